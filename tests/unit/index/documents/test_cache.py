"""The cache of documents: what is read once stays in memory, and what a commit may have taken away does not."""

from collections.abc import Sequence
from contextlib import ExitStack, suppress

import pytest

from index.documents.cache import DocumentCache


class Shelf:
    """Visible documents by version, and a note of what was read of them."""

    def __init__(self, *versions: str) -> None:
        self.visible = set(versions)
        self.read: list[list[str]] = []

    def load(self, versions: Sequence[str]) -> dict[str, str]:
        self.read.append(list(versions))
        return {version: version * 10 for version in versions if version in self.visible}

    def cache(self, max_size: int = 1000) -> DocumentCache[str]:
        return DocumentCache(self.load, len, max_size)


def test_what_was_read_is_not_read_again() -> None:
    shelf = Shelf("a", "b")
    cache = shelf.cache()

    assert cache.get(["a"]) == {"a": "a" * 10}
    assert cache.get(["b", "a", "unknown"]).keys() == {"a", "b"}
    assert shelf.read == [["a"], ["b", "unknown"]]


def test_those_used_longest_ago_make_room() -> None:
    shelf = Shelf("a", "b", "c")
    cache = shelf.cache(max_size=20)
    for version in "abac":
        cache.get([version])
    shelf.read.clear()

    cache.get(["a", "c"])
    cache.get(["b"])

    assert shelf.read == [["b"]]


def test_a_document_larger_than_the_bound_is_kept_alone() -> None:
    shelf = Shelf("a")
    cache = shelf.cache(max_size=1)

    assert [cache.get(["a"]).keys() for _ in range(2)] == [{"a"}, {"a"}]
    assert shelf.read == [["a"]]


@pytest.mark.parametrize("error", [None, OSError("disk")], ids=["succeeds", "raises"])
def test_a_commit_takes_replaced_versions_out_even_if_it_raises(error: Exception | None) -> None:
    shelf = Shelf("old")
    cache = shelf.cache()
    cache.get(["old"])

    with suppress(OSError), cache.committing():
        shelf.visible = {"new"}
        if error:
            raise error

    assert cache.get(["old", "new"]).keys() == {"new"}


def test_old_and_new_are_never_found_together_though_a_commit_comes_between() -> None:
    shelf = Shelf("old")

    def load(versions: Sequence[str]) -> dict[str, str]:
        if "new" in versions and "old" in shelf.visible:  # the commit comes after the look at what is kept
            with cache.committing():
                shelf.visible = {"new"}
        return shelf.load(versions)

    cache = DocumentCache(load, len, 1000)
    cache.get(["old"])

    assert cache.get(["old", "new"]).keys() == {"new"}


def test_what_was_read_during_a_commit_is_not_kept() -> None:
    shelf = Shelf("old")
    cache = shelf.cache()

    with cache.committing():
        assert cache.get(["old"]).keys() == {"old"}
        shelf.visible = {"new"}

    assert cache.get(["old"]) == {}


def test_a_look_that_saw_the_old_and_ended_after_the_commit_is_not_kept() -> None:
    shelf = Shelf("old")
    commit = ExitStack()

    def load(versions: Sequence[str]) -> dict[str, str]:
        seen = shelf.load(versions)
        shelf.visible = {"new"}
        commit.close()
        return seen

    cache = DocumentCache(load, len, 1000)
    commit.enter_context(cache.committing())
    assert cache.get(["old"]).keys() == {"old"}

    assert cache.get(["old", "new"]).keys() == {"new"}
