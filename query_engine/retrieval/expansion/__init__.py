"""The query grows: feedback, hypothetical documents, rephrasings, steering."""
