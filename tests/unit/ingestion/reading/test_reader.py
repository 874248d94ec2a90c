"""The reader and its child process: real files, and parsers that block, crash and devour memory."""

import os
import signal
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document
from ingestion.reading.files import SourceFile
from ingestion.reading.formats import read_file
from ingestion.reading.options import ReadOptions
from ingestion.reading.reader import Reader
from settings import IngestSettings
from tests.fakes.pdfs import make_pdf

LIMITS = IngestSettings(parse_memory_mb=512)
FAKES = "tests.fakes.parsers"


def file_named(name: str, folder: Path = Path("/unused")) -> SourceFile:
    return SourceFile(folder / name, name, 0)


def one(items: Iterator[Document | LeftOut | UnreadableError]) -> Document | LeftOut | UnreadableError:
    (item,) = items
    return item


def pid_of(item: Document | LeftOut | UnreadableError) -> int:
    assert isinstance(item, Document)
    return int(str(item.metadata["pid"]))


@pytest.mark.promise("C12")
def test_documents_in_other_languages_than_those_of_the_settings_are_left_out(tmp_path: Path) -> None:
    texts = {"a.txt": "The wind turns the blades of the mill. ", "b.txt": "Der Wind dreht die Flügel der alten Mühle. "}
    for name, text in texts.items():
        (tmp_path / name).write_text(text * 20, encoding="utf-8")

    with Reader(LIMITS.model_copy(update={"languages": "en,fr"})) as reader:
        english, german = (one(reader.read(file_named(name, tmp_path))) for name in texts)

    assert isinstance(english, Document)
    assert isinstance(german, LeftOut)
    assert "RAG_INGEST__LANGUAGES" in german.reason


@pytest.mark.promise("G27")
def test_files_of_every_format_pass_through_one_child(tmp_path: Path) -> None:
    contents = {
        "a.md": b"---\ntitle: T\nyear: 2024\n---\nMarkdown.",
        "b.txt": "Größe".encode("utf-16"),
        "c.html": b"<html><head><title>P</title></head><body><p>A page.</p></body></html>",
        "d.pdf": make_pdf("Page one", "Page two"),
        "e.jsonl": b'{"id": "r1", "text": "R.", "url": "https://example.org"}\nnonsense\n{"id": "r2", "text": "R."}',
    }
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)

    with Reader(LIMITS) as reader:
        found = [item for name in contents for item in reader.read(file_named(name, tmp_path))]

    pdf = found[3]
    assert isinstance(pdf, Document)
    assert pdf.metadata.keys() == {"date"}
    assert [*found[:3], replace(pdf, metadata={})] == [
        Document("a.md", "T", "Markdown.", metadata={"year": 2024}, source="a.md", content_type="markdown"),
        Document("b.txt", "b", "Größe", source="b.txt", content_type="plain text"),
        Document("c.html", "P", "A page.", source="c.html", content_type="html"),
        Document("d.pdf", "d", "Page one\n\nPage two", pages=(0, 10), source="d.pdf", content_type="pdf"),
    ]
    record, bad, last = found[4:]
    assert record == Document("r1", "R.", "R.", url="https://example.org", source="e.jsonl", content_type="jsonl")
    assert isinstance(bad, UnreadableError)
    assert bad.fact.startswith("Line 2 is not valid JSON")
    assert isinstance(last, Document)


def make_pdf_bomb(copies: int) -> bytes:
    """Return a PDF of one page whose content is `copies` megabytes of the same drawing when it is unpacked."""
    block = zlib.compressobj(9)
    head = block.compress(b"0 0 m 1 1 l S\n" * 70_000) + block.flush(zlib.Z_FULL_FLUSH)
    again = block.compress(b"0 0 m 1 1 l S\n" * 70_000) + block.flush(zlib.Z_FULL_FLUSH)
    stream = head + again * copies + block.flush()
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R>>",
        b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (len(stream), stream),
    ]
    body = b"".join(b"%d 0 obj%s endobj\n" % (number, part) for number, part in enumerate(parts, 1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>"


@pytest.mark.fault("D5")
def test_a_pdf_that_unpacks_to_a_mountain_costs_itself_only(tmp_path: Path) -> None:
    (tmp_path / "bomb.pdf").write_bytes(make_pdf_bomb(1000))
    (tmp_path / "good.pdf").write_bytes(make_pdf("Good."))

    with Reader(LIMITS) as reader:
        bomb = one(reader.read(file_named("bomb.pdf", tmp_path)))
        good = one(reader.read(file_named("good.pdf", tmp_path)))

    assert isinstance(bomb, UnreadableError)
    assert isinstance(good, Document)


def test_parquet_is_read_within_the_child_s_memory(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"id": ["a"], "text": ["Words."]}), tmp_path / "a.parquet")

    with Reader(LIMITS) as reader:
        document = one(reader.read(file_named("a.parquet", tmp_path)))

    assert document == Document("a", "Words.", "Words.", source="a.parquet", content_type="parquet")


def test_one_child_serves_many_files() -> None:
    with Reader(LIMITS, parser=f"{FAKES}:blocks") as reader:
        pids = {pid_of(one(reader.read(file_named("good.txt")))) for _ in range(5)}

    assert len(pids) == 1
    assert os.getpid() not in pids


@pytest.mark.fault("D5")
@pytest.mark.parametrize(
    ("parser", "reason"),
    [
        ("blocks", r"took longer than 1 s\..*RAG_INGEST__PARSE_TIMEOUT_S"),
        ("eats_memory", r"needs more than 512 MB of memory\..*RAG_INGEST__PARSE_MEMORY_MB"),
        ("crashes", r"Parsing killed its process \(SIGSEGV\)"),
    ],
)
def test_a_file_that_breaks_the_child_costs_itself_and_the_next_gets_a_new_child(parser: str, reason: str) -> None:
    limits = IngestSettings(parse_memory_mb=512, parse_timeout_s=1)
    with Reader(limits, parser=f"{FAKES}:{parser}") as reader:
        before = pid_of(one(reader.read(file_named("good.txt"))))
        broken = one(reader.read(file_named("bomb.txt")))
        after = pid_of(one(reader.read(file_named("good.txt"))))

    assert before != after
    with pytest.raises(UnreadableError, match=reason):
        raise broken if isinstance(broken, UnreadableError) else AssertionError(broken)


def test_a_member_of_an_archive_that_ends_the_process_costs_itself_only() -> None:
    with Reader(LIMITS, parser=f"{FAKES}:crashes_at_members") as reader:
        found = list(reader.read(file_named("box.zip")))

    documents = [item.doc_id for item in found if isinstance(item, Document)]
    assert [doc_id for doc_id in documents if doc_id[-5] in "135"] == [
        "box.zip/1.txt",
        "box.zip/3.txt",
        "box.zip/5.txt",
    ]
    assert [item.doc_id for item in found if isinstance(item, UnreadableError)] == ["box.zip/2.txt", "box.zip/4.txt"]


@pytest.mark.fault("D12")
@pytest.mark.parametrize(
    ("waiting", "tried", "lost"),
    [
        ("2", "1 2 3 4 ", ["2"]),
        ("4", "1 2 3 4 ", ["4"]),
        ("23", "1 2 3 ", ["2", "rest"]),
        ("14", "1 2 3 4 ", ["1", "rest"]),
    ],
)
def test_members_that_never_end_share_the_file_s_time_and_none_is_tried_twice(
    tmp_path: Path, waiting: str, tried: str, lost: list[str]
) -> None:
    """The first one takes half of the time, the second one the other half."""
    box = f"box{waiting}.zip"
    with Reader(IngestSettings(parse_timeout_s=1), parser=f"{FAKES}:waits_at_members") as reader:
        found = list(reader.read(file_named(box, tmp_path)))

    documents = [item.doc_id for item in found if isinstance(item, Document)]
    errors = [item for item in found if isinstance(item, UnreadableError)]
    assert (tmp_path / f"box{waiting}.log").read_text() == tried
    assert documents == [f"{box}/{number}.txt" for number in tried.split() if number not in waiting]
    assert [error.doc_id for error in errors] == [None if one == "rest" else f"{box}/{one}.txt" for one in lost]
    assert all("RAG_INGEST__PARSE_TIMEOUT_S" in (error.remedy or "") for error in errors)


@pytest.mark.fault("D12")
@pytest.mark.parametrize(("size", "read"), [(0, 3), (1_000_000, 3), (2_000_000, 7)])
def test_a_file_of_many_slow_members_ends_when_its_time_does(size: int, read: int) -> None:
    """A file of twice the size that may be held in memory has twice the time."""
    limits = IngestSettings(parse_timeout_s=60, max_file_mb=1)
    with Reader(limits, parser=f"{FAKES}:uses_its_time") as reader:
        *documents, rest = reader.read(SourceFile(Path("/unused/box.zip"), "box.zip", size))

    assert [item.doc_id for item in documents if isinstance(item, Document)] == [
        f"box.zip/{number}.txt" for number in range(1, read + 1)
    ]
    assert isinstance(rest, UnreadableError)
    assert (rest.doc_id, f"box.zip/{read + 1}.txt" in rest.fact) == (None, True)


def test_each_record_of_a_stream_has_the_time_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "One."}\n{"id": "2", "text": "Two."}\n')
    wound: list[float] = []
    monkeypatch.setattr(signal, "getitimer", lambda _which: (1.0, 120.0))
    monkeypatch.setattr(signal, "setitimer", lambda _which, seconds, _interval: wound.append(seconds))

    list(read_file(tmp_path / "a.jsonl", "a.jsonl", ReadOptions(max_bytes=1000, max_chars=1000)))

    assert wound == [120.0, 120.0]


def test_a_bug_in_a_parser_is_reported_after_what_it_found_and_the_child_lives_on() -> None:
    with Reader(LIMITS, parser=f"{FAKES}:raises") as reader:
        found, bug = reader.read(file_named("odd.txt"))
        after = one(reader.read(file_named("good.txt")))

    assert isinstance(bug, UnreadableError)
    assert bug.fact == "The parser failed (KeyError: 'no such table')."
    assert pid_of(found) == pid_of(after)


def test_documents_found_before_a_death_are_kept() -> None:
    with Reader(LIMITS, parser=f"{FAKES}:crashes_later") as reader:
        *found, death = reader.read(file_named("bad.txt"))

    assert len(found) == 500  # the batches that were complete
    assert isinstance(death, UnreadableError)
    assert "SIGKILL" in death.fact


def test_a_child_killed_between_files_is_replaced_and_no_file_is_blamed() -> None:
    with Reader(LIMITS, parser=f"{FAKES}:blocks") as reader:
        pid = pid_of(one(reader.read(file_named("good.txt"))))
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # until it is dead, leaving it to the reader to bury

        assert pid_of(one(reader.read(file_named("good.txt")))) != pid


def test_documents_stream_and_a_file_may_be_left_unfinished() -> None:
    with Reader(LIMITS, parser=f"{FAKES}:endless") as reader:
        first = reader.read(file_named("a.txt"))
        for _ in range(1200):
            next(first)
        second = reader.read(file_named("b.txt"))
        item = next(second)

        assert isinstance(item, Document)
        assert item.doc_id == "b.txt#0"


def test_two_files_cannot_be_read_at_once() -> None:
    with Reader(LIMITS, parser=f"{FAKES}:endless") as reader:
        first = reader.read(file_named("a.txt"))
        next(first)
        next(reader.read(file_named("b.txt")))

        with pytest.raises(RuntimeError, match="Another request was started"):
            list(first)


def test_parsers_see_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_LLM__API_KEY", "secret")
    with Reader(LIMITS, parser=f"{FAKES}:tells_environment") as reader:
        item = one(reader.read(file_named("a.txt")))

    assert isinstance(item, Document)
    assert "PYTHONPATH" in item.text
    assert "RAG_" not in item.text


def test_no_child_is_started_before_it_is_needed_and_none_stays() -> None:
    with Reader(LIMITS, parser="no.such:parser"):
        pass
    with Reader(LIMITS, parser=f"{FAKES}:blocks") as reader:
        pid = pid_of(one(reader.read(file_named("good.txt"))))

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_child_that_cannot_start_is_our_fault_and_not_the_file_s() -> None:
    with Reader(LIMITS, parser="no.such:parser") as reader, pytest.raises(RuntimeError, match="did not start"):
        list(reader.read(file_named("a.txt")))
