"""What the descriptions of replies share.

Flow: **here** -> the other files of this folder -> `api/described.py`. No view makes a reply with them; tests
compare replies with them.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class Reply(BaseModel):
    """A reply, or a part of one. What stands below a field is its description; one with a default may be absent."""

    # Most of them are never built: only `/openapi.json` asks for them.
    model_config = ConfigDict(use_attribute_docstrings=True, defer_build=True)


Metadata = Annotated[dict[str, Any], Field(examples=[{"language": "en", "year": 2024}])]
Moment = Annotated[str, Field(examples=["2026-01-31T12:00:00+00:00"])]
Timings = Annotated[dict[str, float], Field(examples=[{"retrieve": 31.0, "write": 12.5, "total": 44.1}])]
Warnings = Annotated[list[str], Field(examples=[["low_confidence: The passages perhaps do not answer the question."]])]
GateReason = Annotated[str, Field(examples=["generated_answer"])]
DocId = Annotated[str, Field(examples=["guide/wind.md"])]
CorpusName = Annotated[str, Field(examples=["default"])]
Id = Annotated[str, Field(examples=["0112d419189a4402975ef303740e7bc8"])]
Fingerprint = Annotated[str, Field(examples=["0123456789abcdef"])]
