"""Read the fields of a record that a source returned.

Flow: a record of any source -> **here** -> its text, or its page. The owner of a foreign store names its fields, so the
usual names are tried. Pure.
"""

from collections.abc import Mapping
from typing import Any

from sources.base import SourcePage

TEXT_FIELDS = ("text", "content", "body")
TITLE_FIELDS = ("title", "name")
URL_FIELDS = ("url", "link", "source")
DATE_FIELDS = ("published", "date")


def text_field(record: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that holds text; empty if none does."""
    return next((value for name in names if isinstance(value := record.get(name), str) and value.strip()), "")


def facts_of(record: Mapping[str, Any], *without: str) -> dict[str, Any]:
    """Return the fields of a record that are a text, a number, a truth value or a list of such.

    Args:
        record: field -> value.
        without: fields to leave out, such as that of the text.
    """
    return {
        name: value
        for name, value in record.items()
        if name not in without and (_is_plain(value) or _is_plain_list(value))
    }


def page_of_record(record: Mapping[str, Any], text: str = "") -> SourcePage | None:
    """Return the page of a record with fields of usual names; None if it has no text or no name.

    Args:
        record: field -> value.
        text: of the page, if no field holds it.
    """
    text = text or text_field(record, *TEXT_FIELDS)
    url = text_field(record, *URL_FIELDS).strip()
    name = record.get("id", url)
    if not text or not isinstance(name, str | int) or not str(name):
        return None
    web = url if url.lower().startswith(("http://", "https://")) else None
    return SourcePage(
        str(name),
        web,
        text_field(record, *TITLE_FIELDS),
        text,
        text_field(record, *DATE_FIELDS),
        facts_of(record, *TEXT_FIELDS),
    )


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_plain, value))
