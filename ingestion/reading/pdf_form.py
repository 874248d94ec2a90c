"""Read the fields of a PDF's form, and write what they hold beside their labels.

Flow: PDFium's page and `pdf_page.py`'s text -> **here** -> the text with `label: value`, whose characters have places
as all others, so that tables and columns are found in it -> `pdf.py`.

A field's label stands left of it, a button's on its nearer side. Without such a label the field has a line of its own
with its tooltip or name. Passwords, hidden fields, push buttons and signatures are not read.
"""

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium

from ingestion.reading.pdf_page import Boxes, PageText
from ingestion.reading.text import one_line

_MAX_FIELDS = 2000  # of a page
_HIDDEN = pdfium.FPDF_ANNOT_FLAG_INVISIBLE | pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13  # a field's flag, PDF 32000-1:2008, table 228
_BUTTONS = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_CHOICES = (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_CHECKED, _UNCHECKED = "☑", "☐"
# In heights of the type: the width of a value's character, and how much of a high field its label stands beside.
_WIDTH, _LABEL_LINES = 0.5, 1.8
_ENDS_LABEL = frozenset(":?=")
_INDEX = re.compile(r"\[\d+\]")


class Field(NamedTuple):
    """A field that says something, and its box in points from the page's lower left."""

    label: str  # its tooltip or name
    value: str
    button: bool
    x0: float
    x1: float
    y0: float
    y1: float


def fields_of(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> list[Field]:
    """Return the fields of a page from its top to its bottom; none unless `document.init_forms()` was called."""
    if document.formenv is None:
        return []
    fields = []
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_FIELDS)):
        with _annotation(page, number) as annotation:
            field = _field(document.formenv.raw, annotation)
        if field and field.value:
            fields.append(field)
    return sorted(fields, key=lambda one: (-one.y1, one.x0))


@contextmanager
def _annotation(page: pypdfium2.PdfPage, number: int) -> Iterator[Any]:
    annotation = pdfium.FPDFPage_GetAnnot(page, number)
    try:
        yield annotation
    finally:
        pdfium.FPDFPage_CloseAnnot(annotation)


def _field(form: Any, annotation: Any) -> Field | None:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind not in (*_BUTTONS, *_CHOICES, pdfium.FPDF_FORMFIELD_TEXTFIELD):
        return None
    if pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
        return None
    if kind not in _BUTTONS + _CHOICES and pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return None
    box = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, box)
    name = _INDEX.sub("", _text(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)).rpartition(".")[2]
    label = _text(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation) or name
    if kind in _BUTTONS:
        value = _CHECKED if pdfium.FPDFAnnot_IsChecked(form, annotation) else _UNCHECKED
    else:
        value = _chosen(form, annotation) or _text(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    return Field(label.rstrip(": "), value, kind in _BUTTONS, box.left, box.right, box.bottom, box.top)


def _chosen(form: Any, annotation: Any) -> str:
    """Return the labels of the options that are chosen."""
    count = min(pdfium.FPDFAnnot_GetOptionCount(form, annotation), _MAX_FIELDS)
    chosen = [place for place in range(count) if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, place)]
    return ", ".join(_text(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, place) for place in chosen)


def _text(function: Callable[..., int], *arguments: Any) -> str:
    """Return a text that PDFium writes as UTF-16 with a zero behind it."""
    size = function(*arguments, None, 0)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    function(*arguments, buffer, size)
    return one_line(bytes(buffer)[: max(0, size - 2)].decode("utf-16-le", "replace"))


def with_fields(page: PageText, fields: list[Field]) -> PageText:
    """Return the page's text with the values of fields in it."""
    for field in fields:
        page = _with_field(page, field)
    return page


def _with_field(page: PageText, field: Field) -> PageText:
    left, top, right, bottom = page.boxes.T
    seen = top > bottom
    usual = float(np.median((top - bottom)[seen])) if seen.any() else field.y1 - field.y0
    y0 = max(field.y0, field.y1 - _LABEL_LINES * usual)
    overlap = np.minimum(top, field.y1) - np.maximum(bottom, y0)
    in_row = seen & (2 * overlap > np.minimum(top - bottom, field.y1 - y0))
    middle = (left + right) / 2
    before, behind = np.flatnonzero(in_row & (middle < field.x0)), np.flatnonzero(in_row & (middle > field.x1))
    last = int(before[np.argmax(right[before])]) if len(before) else None
    first = int(behind[np.argmin(left[behind])]) if len(behind) else None
    if field.button and first is not None and (last is None or left[first] - field.x1 < field.x0 - right[last]):
        x0 = float(left[first]) - 2 * _WIDTH * float(top[first] - bottom[first])
        return _put(page, first, f"{field.value} ", (x0, float(top[first]), float(bottom[first])))
    if last is not None:
        beside = page.indices[last] < 0  # another field
        mark = "" if beside or page.text[last] in _ENDS_LABEL else ":"
        gap = " " if page.text[last + 1 : last + 2].strip() else ""
        x0 = field.x0 if beside else float(right[last])
        return _put(page, last + 1, f"{mark} {field.value}{gap}", (x0, float(top[last]), float(bottom[last])))
    above = np.flatnonzero(seen & (bottom > y0))
    nearest = int(above[np.argmin(bottom[above])]) if len(above) else -1
    end = page.text.find("\n", nearest) if nearest >= 0 else 0
    end = len(page.text) if end < 0 else end
    line = f"{field.label}: {field.value}" if field.label else field.value
    text = f"\n{line}" if end else f"{line}\n"
    return _put(page, end, text, (field.x0, field.y1, field.y1 - min(usual, field.y1 - field.y0)))


def _put(page: PageText, place: int, text: str, corner: tuple[float, float, float]) -> PageText:
    """Return the page with a text at this place, whose line has this left edge, top and bottom."""
    x0, top, bottom = corner
    width = _WIDTH * (top - bottom)
    boxes: Boxes = np.zeros((len(text), 4), dtype=np.float32)
    for number, character in enumerate(text):
        if not character.isspace():
            boxes[number] = (x0 + number * width, top, x0 + (number + 1) * width, bottom)
    return PageText(
        page.text[:place] + text + page.text[place:],
        np.insert(page.boxes, [place] * len(text), boxes, axis=0),
        np.insert(page.indices, [place] * len(text), -1),
    )
