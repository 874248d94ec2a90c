"""The totals of a corpus: kept between commits, and never older than the documents that a thread sees."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from errors import CorpusError
from index.documents.tables import Database, closing_engine, open_file
from index.documents.tables import totals as totals_table
from index.documents.totals import Totals, TotalsReader, write_totals

ONE, TWO = Totals(1, 5, f"{1:020x}"), Totals(2, 9, f"{2:020x}")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Database]:
    with closing_engine(open_file(tmp_path / "documents.sqlite")) as engine:
        commit(engine, ONE)
        yield engine


def commit(engine: Database, totals: Totals) -> None:
    with engine.begin() as connection:
        write_totals(connection, totals)


def test_a_new_corpus_holds_nothing(tmp_path: Path) -> None:
    with closing_engine(open_file(tmp_path / "documents.sqlite")) as engine:
        assert TotalsReader(engine).get() == Totals(0, 0, f"{0:020x}")


def test_they_are_read_once_between_commits(engine: Database) -> None:
    totals = TotalsReader(engine)
    assert totals.get() == ONE

    commit(engine, TWO)

    assert totals.get() == ONE


def test_what_is_committed_shows_while_the_commit_is_being_closed(engine: Database) -> None:
    totals = TotalsReader(engine)
    totals.get()

    with totals.changing():
        assert totals.get() == ONE
        commit(engine, TWO)
        assert totals.get() == TWO
    assert totals.get() == TWO


def test_what_was_read_before_a_commit_is_not_kept_after_it(engine: Database) -> None:
    totals = TotalsReader(engine)

    def commit_meanwhile(*_: object) -> None:
        with totals.changing():
            commit(engine, TWO)

    sa.event.listen(engine, "after_cursor_execute", commit_meanwhile, once=True)
    assert totals.get() == ONE

    assert totals.get() == TWO


def test_a_commit_that_fails_leaves_them_to_be_read_again(engine: Database) -> None:
    totals = TotalsReader(engine)
    totals.get()

    def commit_and_fail() -> None:
        commit(engine, TWO)
        raise CorpusError("The disk is full.", "Make room.")

    with pytest.raises(CorpusError), totals.changing():
        commit_and_fail()

    assert totals.get() == totals.last == TWO


def test_the_last_ones_are_known_without_the_database(engine: Database) -> None:
    totals = TotalsReader(engine)
    assert totals.last is None
    totals.get()
    with engine.begin() as connection:
        connection.execute(sa.delete(totals_table))

    assert totals.last == ONE
