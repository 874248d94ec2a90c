"""Both systems ingest the same files: the first of the set, as text."""

from collections.abc import Iterator
from pathlib import Path

from bench.made_corpora import shuffled
from bench.speed.workload import Text, read_texts, write_workload
from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.files import SourceFile, list_files
from ingestion.reading.reader import Reader
from tests.failing import failing


class TwoRecords(Reader):
    """Reads every file as two records, the second of which is unreadable, and one more."""

    def __init__(self) -> None:
        """Start no process."""

    def read(self, file: SourceFile) -> Iterator[Document | UnreadableError]:
        yield Document("../a", "A", f"first of {file.doc_id}")
        yield UnreadableError("It is broken.", "Mend it.")
        yield Document("b", "B", "second")


def test_text_files_are_taken_as_they_are_and_others_are_read_first(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xff\x00as is")
    (tmp_path / "b.jsonl").touch()
    (tmp_path / "c.exe").touch()

    assert list(read_texts(list_files(tmp_path), TwoRecords())) == [
        Text("a.md", b"\xff\x00as is", prepared=False),
        Text("prepared/000001.txt", b"first of b.jsonl", prepared=True),
        Text("prepared/000002.txt", b"second", prepared=True),
    ]


def test_the_first_documents_are_written(tmp_path: Path) -> None:
    texts = [
        Text("x/a.txt", b"one", prepared=False),
        Text("b.txt", b"two", prepared=True),
        Text("c", b"", prepared=True),
    ]

    workload = write_workload(texts, tmp_path, 2)

    assert {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*.txt")} == {
        "x/a.txt": "one",
        "b.txt": "two",
    }
    assert (workload.documents, workload.prepared, workload.repeated) == (2, 1, 0)


def test_too_few_documents_are_repeated_with_other_words_orders(tmp_path: Path) -> None:
    words = b"the wind turns the rotor of a turbine of four megawatts"

    workload = write_workload([Text("a.txt", words, prepared=False)], tmp_path, 3)

    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.txt"))
    contents = {(tmp_path / name).read_bytes() for name in written}
    assert written == ["a.txt", "copy1/a.txt", "copy2/a.txt"]
    assert len(contents) == 3
    assert {tuple(sorted(content.split())) for content in contents} == {tuple(sorted(words.split()))}
    assert workload.repeated == 2


def test_shuffling_changes_every_line_in_the_same_way_each_time() -> None:
    line = " ".join(map(str, range(50))).encode()
    text = b"\n\n".join([line, line])

    assert shuffled(text, 1) == shuffled(text, 1) != shuffled(text, 2)
    assert len({line, *shuffled(text, 1).split(b"\n\n")}) == 3


def test_a_set_without_text_is_refused(tmp_path: Path) -> None:
    with failing("no_data_set", match="holds no readable document"):
        write_workload([], tmp_path, 1)
