"""The cache of documents: what it keeps, and what it must not keep while a commit changes what is visible."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

import pytest

from index.document_cache import DocumentCache


class Visible:
    """What a database would show; `meanwhile` happens after a look and before its end."""

    def __init__(self, *versions: str) -> None:
        self.versions = set(versions)
        self.looks: list[list[str]] = []
        self.meanwhile: Callable[[], object] = int

    def load(self, versions: Sequence[str]) -> dict[str, str]:
        self.looks.append(list(versions))
        seen = {version: version for version in versions if version in self.versions}
        meanwhile, self.meanwhile = self.meanwhile, int
        meanwhile()
        return seen


def cache_of(visible: Visible, max_size: int = 100) -> DocumentCache[str]:
    return DocumentCache(visible.load, len, max_size)


def test_what_was_read_is_not_read_again() -> None:
    visible = Visible("old", "other")
    cache = cache_of(visible)

    assert cache.get(["old", "gone"]) == {"old": "old"}
    assert cache.get(["old", "other"]) == {"old": "old", "other": "other"}
    assert cache.get(["old", "other"]) == {"old": "old", "other": "other"}
    assert visible.looks == [["gone", "old"], ["other"]]


def test_those_used_longest_ago_make_room() -> None:
    visible = Visible("a", "b", "c")
    cache = cache_of(visible, max_size=2)
    for name in "abac":
        cache.get([name])

    visible.looks.clear()
    assert cache.get(["a", "c"]) == {"a": "a", "c": "c"}
    assert visible.looks == []
    cache.get(["b"])
    assert visible.looks == [["b"]]


def test_a_commit_takes_everything_away() -> None:
    visible = Visible("old")
    cache = cache_of(visible)
    cache.get(["old"])
    with cache.committing():
        visible.versions = {"new"}

    assert cache.get(["old", "new"]) == {"new": "new"}


def test_a_failed_commit_takes_everything_away() -> None:
    visible = Visible("old")
    cache = cache_of(visible)
    cache.get(["old"])

    def fail() -> None:
        with cache.committing():
            visible.versions = {"new"}
            raise OSError("The disk is full.")

    with pytest.raises(OSError, match="full"):
        fail()

    assert cache.get(["old", "new"]) == {"new": "new"}


@pytest.mark.parametrize("looking", ["before", "within"])
def test_what_was_seen_before_a_commit_ended_is_not_kept(looking: str) -> None:
    visible = Visible("old")
    cache = cache_of(visible)
    commit = ExitStack()

    def end() -> None:
        visible.versions = {"new"}
        commit.close()

    def begin_and_end() -> None:
        commit.enter_context(cache.committing())
        end()

    if looking == "within":
        commit.enter_context(cache.committing())
    visible.meanwhile = end if looking == "within" else begin_and_end
    assert cache.get(["old"]) == {"old": "old"}

    assert cache.get(["old", "new"]) == {"new": "new"}


def test_kept_and_read_are_of_one_look() -> None:
    visible = Visible("old")
    cache = cache_of(visible)
    cache.get(["old"])

    def commit() -> None:
        with cache.committing():
            visible.versions = {"new"}

    visible.meanwhile = commit

    assert cache.get(["old", "new"]) == {"new": "new"}
