"""What the models of replies share: each is filled here and sent as it is.

Flow: the other files of this folder -> `views/negotiation.py`, `views/deltas.py` and `api/openapi.py`.
"""

from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, ConfigDict, Field


class Reply(BaseModel):
    """A reply, or a part of one. What stands below a field is its description; one with a default may be absent."""

    # Built when it is first sent, or asked for by `/openapi.json`.
    model_config = ConfigDict(use_attribute_docstrings=True, defer_build=True)

    @classmethod
    def filled(cls, value: object = None, /, **more: Any) -> Self:
        """Return a reply with the fields `more`, and the attributes of `value` that are called as the others.

        A field that may be absent is so if it is not among `more`, and the attribute has its default.
        Not validated: what documents hold goes out as it stands, lone surrogates too.

        Raises:
            AttributeError: neither has a field that must be there.
        """
        others = {
            name: getattr(value, name)
            for name, field in cls.model_fields.items()
            if name not in more and (field.is_required() or getattr(value, name, field.default) != field.default)
        }
        return cast("Self", cls.model_construct(**others, **more))

    def to_dict(self) -> dict[str, Any]:
        """Return the reply as JSON-ready values."""
        return self.model_dump(exclude_unset=True, by_alias=True, warnings=False)


Metadata = Annotated[dict[str, Any], Field(examples=[{"language": "en", "year": 2024}])]
Moment = Annotated[str, Field(examples=["2026-01-31T12:00:00+00:00"])]
Timings = Annotated[dict[str, float], Field(examples=[{"retrieve": 31.0, "write": 12.5, "total": 44.1}])]
Warnings = Annotated[list[str], Field(examples=[["low_confidence: The passages perhaps do not answer the question."]])]
GateReason = Annotated[str, Field(examples=["generated_answer"])]
DocId = Annotated[str, Field(examples=["guide/wind.md"])]
CorpusName = Annotated[str, Field(examples=["default"])]
Id = Annotated[str, Field(examples=["0112d419189a4402975ef303740e7bc8"])]
Fingerprint = Annotated[str, Field(examples=["0123456789abcdef"])]
