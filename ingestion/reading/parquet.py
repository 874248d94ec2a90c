"""Read Parquet: one row a record, one document a row, a few hundred rows at a time; a table where no column has text.

Flow: open file -> **here** -> `records.py` -> a stream of `Document`s.
"""

import math
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import parquet

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.records import documents, has_text, table

MAGIC = b"PAR1"
_BATCH_ROWS = 256


def read_parquet(stream: BinaryIO, doc_id: str, max_chars: float = math.inf) -> Iterator[Document | UnreadableError]:
    """Yield a document, or the reason why there is none, for each row.

    Args:
        stream: at its beginning.
        doc_id: the file.
        max_chars: length at which a table is refused.

    Raises:
        UnreadableError: no Parquet, damaged, or a table too long; rows with text before the damage are yielded.
    """
    try:
        file = parquet.ParquetFile(stream, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableError("This is not a Parquet file, or a damaged one.", "Export it again.") from error
    columns = [column.name for column in file.schema_arrow if _is_usable(column.type)]
    rows = _numbered_rows(file, columns)
    yield from documents(rows, doc_id, "Row") if has_text(columns) else table(rows, doc_id, max_chars)


def _numbered_rows(file: parquet.ParquetFile, columns: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    try:
        for batch in file.iter_batches(_BATCH_ROWS, columns=columns, use_threads=False):
            for row in pa.Table.from_batches([batch]).cast(_in_microseconds(batch.schema), safe=False).to_pylist():
                number += 1
                yield number, row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, MemoryError):
            raise
        raise UnreadableError(f"The Parquet file is damaged after row {number}.", "Export it again.") from error


def _is_usable(kind: pa.DataType) -> bool:
    """Tell columns of text, metadata and lists of words from those of vectors, images and structures."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _is_text(kind.value_type)
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return bool(number or _is_text(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _in_microseconds(schema: pa.Schema) -> pa.Schema:
    """Return the schema with times that Python can hold."""
    kinds = (
        pa.timestamp("us", column.type.tz) if pa.types.is_timestamp(column.type) else column.type for column in schema
    )
    return pa.schema([column.with_type(kind) for column, kind in zip(schema, kinds, strict=True)])
