"""A topic becomes sub-questions, findings and a report, without a language model."""
