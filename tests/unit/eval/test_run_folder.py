"""A run on disk survives a kill at any byte, and two writers never share it."""

import multiprocessing
from pathlib import Path

import pytest

from errors import RagError
from eval.cases import Case, GivenPage
from eval.cells import failed, scored
from eval.rows import Row, Seen
from eval.run_folder import Header, RunFolder, RunFolderError, Scored

HEADER = Header(started="2026-01-01T00:00:00Z", questions="q.jsonl", questions_sha256="0", target="in process")
CASES = (
    Case(id="1", question="Why?", answer="So."),
    Case(id="2", question="When?", answer=None, pages=(GivenPage(url="https://a", html="<p>"),)),
)


def answered(id_: str, answer: str = "So.", seconds: float = 0.5) -> Row:
    return Row(id=id_, outcome="answered", answer=answer, passages=(Seen(text="p"),), seconds=seconds, fingerprint="f")


def down(id_: str) -> Row:
    return Row(id=id_, outcome="failed", answer=None, reason="refused")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "runs" / "a")
    folder.create(HEADER, CASES)
    return folder


def test_what_was_written_is_read_back(folder: RunFolder) -> None:
    with folder.writing():
        folder.append_row(answered("2"))
        folder.append_row(answered("1"))

    assert folder.header() == HEADER
    assert list(folder.rows().items()) == [("1", answered("1")), ("2", answered("2"))]


def test_an_unanswerable_case_stays_one_and_its_pages_stay_out(folder: RunFolder) -> None:
    first, second = folder.cases()

    assert not first.unanswerable
    assert second.unanswerable
    assert second.pages == ()


def test_a_run_is_begun_only_once(folder: RunFolder) -> None:
    with pytest.raises(RunFolderError, match="holds a run already"):
        folder.create(HEADER, CASES)


@pytest.mark.fault("F1")
def test_a_kill_at_any_byte_costs_at_most_the_row_being_written(folder: RunFolder) -> None:
    with folder.writing():
        folder.append_row(answered("1"))
        folder.append_row(answered("2"))
    rows = folder.path / "rows.jsonl"
    whole = rows.read_bytes()
    first = whole.index(b"\n") + 1

    for size in range(first, len(whole)):
        rows.write_bytes(whole[:size])
        assert list(folder.rows()) == ["1"]
        with folder.writing():
            folder.append_row(answered("2"))
        assert rows.read_bytes() == whole


def test_a_damaged_line_before_the_last_is_said_and_never_passed_over(folder: RunFolder) -> None:
    with folder.writing():
        folder.append_row(answered("1"))
        folder.append_row(answered("2"))
    rows = folder.path / "rows.jsonl"
    rows.write_bytes(b"{" + rows.read_bytes())

    with pytest.raises(RunFolderError, match=r"Line 1 of .*rows\.jsonl is damaged"):
        folder.rows()


def test_a_row_without_a_question_is_damage(folder: RunFolder) -> None:
    with folder.writing():
        folder.append_row(answered("9"))

    with pytest.raises(RunFolderError, match="'9' without a question"):
        folder.rows()


def test_a_failed_reply_is_replaced_by_a_later_one_and_replaces_none(folder: RunFolder) -> None:
    with folder.writing():
        for row in (down("1"), answered("1"), down("1"), answered("1", "Otherwise.")):
            folder.append_row(row)

    assert folder.rows()["1"] == answered("1")


def test_scores_of_another_content_are_out_of_date(folder: RunFolder) -> None:
    row = answered("1")
    with folder.writing():
        folder.append_row(row)
        folder.append_scores(Scored(id="1", of="another", family="answer", cells={"recall": scored(0)}))
        folder.append_scores(Scored(id="1", of=row.digest(), family="answer", cells={"recall": scored(1)}))

    assert folder.cells() == {"1": {"recall": scored(1)}}


def test_times_do_not_change_the_content() -> None:
    assert answered("1", seconds=1).digest() == answered("1", seconds=2).digest()
    assert answered("1").digest() != answered("1", "Otherwise.").digest()


def test_repeats_are_averaged_and_one_that_failed_is_left_out(folder: RunFolder) -> None:
    row = answered("1")
    with folder.writing():
        folder.append_row(row)
        for repeat, cell in enumerate([scored(1), failed("prose"), scored(0)]):
            folder.append_scores(
                Scored(id="1", of=row.digest(), family="ragas", repeat=repeat, cells={"faithfulness": cell})
            )

    assert folder.cells() == {"1": {"faithfulness": scored(0.5)}}


def _try_to_write(path: Path, told: "multiprocessing.Queue[str]") -> None:
    try:
        with RunFolder(path).writing():
            told.put("in")
    except RagError as error:
        told.put(str(error))


def test_a_second_writer_is_refused(folder: RunFolder) -> None:
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    with folder.writing():
        second = context.Process(target=_try_to_write, args=(folder.path, told))
        second.start()
        assert "Another process is writing into" in told.get(timeout=60)
        second.join()


def test_a_run_of_another_version_is_said(folder: RunFolder) -> None:
    path = folder.path / "run.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))

    with pytest.raises(RunFolderError, match="another version"):
        folder.header()


def test_a_damaged_header_is_said(folder: RunFolder) -> None:
    (folder.path / "run.json").write_text("{")

    with pytest.raises(RunFolderError, match="cannot be read"):
        folder.header()
