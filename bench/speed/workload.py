"""A folder of text files that two systems ingest alike.

Flow: data set -> **here** -> folder -> `ingest.py`.

The stock recipe reads text files only, so what is neither .txt nor .md is turned into text by our readers before the
clock runs: both systems then ingest the very same bytes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.made_corpora import shuffled
from errors import RagError
from index.documents.store import Document
from ingestion.reading.files import Skipped, SourceFile
from ingestion.reading.reader import Reader

PLAIN = (".txt", ".md")


@dataclass(frozen=True, slots=True)
class Text:
    """One document to be written: a relative path, its bytes, and whether our readers made them."""

    name: str
    data: bytes
    prepared: bool


@dataclass(frozen=True, slots=True)
class Workload:
    """A folder to ingest.

    Attributes:
        folder: holds `documents` files and nothing else.
        text_mb: their size.
        prepared: those that our readers turned into text beforehand.
        repeated: those that repeat another one with the words of each line shuffled.
    """

    folder: Path
    documents: int
    text_mb: float
    prepared: int
    repeated: int

    def describe(self) -> str:
        """Return what it is made of."""
        return (
            f"{self.documents} documents of {self.text_mb:.1f} MB, {self.prepared} made into text beforehand, "
            f"{self.repeated} repeated with their words shuffled"
        )


def read_texts(entries: Iterable[SourceFile | Skipped], reader: Reader) -> Iterator[Text]:
    """Yield the documents of the entries in their order; what cannot be read is left out."""
    made = 0
    for entry in entries:
        if isinstance(entry, Skipped):
            continue
        if entry.path.suffix.lower() in PLAIN:
            yield Text(entry.doc_id, entry.path.read_bytes(), prepared=False)
            continue
        for document in reader.read(entry):
            if isinstance(document, Document):
                made += 1
                # Numbered: the id of a record may not be a file name.
                yield Text(f"prepared/{made:06}.txt", document.text.encode(), prepared=True)


def write_workload(texts: list[Text], folder: Path, documents: int) -> Workload:
    """Write `documents` files to `folder`.

    Where there are fewer texts than that they are repeated, each line with its words shuffled: identical text would
    be embedded once, and shuffled text costs what the original costs.

    Raises:
        RagError: there is no text at all.
    """
    if not texts:
        raise RagError("The data set holds no readable document.", "Look at what its corpus holds.", "no_data_set")
    written = 0
    for number in range(documents):
        copy, place = divmod(number, len(texts))
        text = texts[place]
        name, data = (f"copy{copy}/{text.name}", shuffled(text.data, copy)) if copy else (text.name, text.data)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        written += path.write_bytes(data)
    originals = texts[:documents]
    return Workload(
        folder,
        documents,
        round(written / 1e6, 3),
        prepared=sum(text.prepared for text in originals),
        repeated=max(0, documents - len(texts)),
    )
