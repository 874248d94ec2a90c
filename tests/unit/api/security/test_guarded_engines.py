"""Which corpora a key opens when several are asked for together."""

from collections.abc import Iterator
from typing import Any

import pytest

from api.caller import CALLER, READ, Key
from api.security.guarded_engines import GuardedEngines
from query_engine.runtime.lease_pool import Lease
from tests.failing import failing
from tests.fakes.engines import FakeEngine, FakeEngines


class Leasing(FakeEngines):
    """Engines of `a`, `b` and `secret`, which note what they are asked for."""

    def __init__(self) -> None:
        super().__init__({name: FakeEngine(corpus=name) for name in ("a", "b", "secret")}, default="a")
        self.asked: list[str | None] = []

    def lease(self, name: str | None = None, **_: Any) -> Lease[FakeEngine]:
        self.asked.append(name)
        return Lease(self.engines["a"], lambda: None)

    def lease_open(self, name: str | None = None, **_: Any) -> Lease[FakeEngine] | None:
        self.asked.append(name)
        return Lease(self.engines["a"], lambda: None)


@pytest.fixture(params=[frozenset({"a", "b"}), None], ids=["a key for a and b", "a key for all"])
def corpora(request: pytest.FixtureRequest) -> Iterator[frozenset[str] | None]:
    token = CALLER.set(Key("one", "", frozenset({READ}), request.param))
    yield request.param
    CALLER.reset(token)


def test_several_corpora_are_opened_if_the_key_opens_each(corpora: frozenset[str] | None) -> None:
    engines = Leasing()
    guarded = GuardedEngines(engines, "a")

    guarded.lease("a+b").release()
    assert guarded.lease_open("b") is not None
    assert engines.asked == ["a+b", "b"]
    if corpora is not None:
        for name in ("secret", "a+secret", "secret+a"):
            with failing("key_scope"):
                guarded.lease(name)
            with failing("key_scope"):
                guarded.lease_open(name)
        assert engines.asked == ["a+b", "b"], "they are not even asked for"


def test_all_corpora_are_those_that_the_key_opens(corpora: frozenset[str] | None) -> None:
    engines = Leasing()
    GuardedEngines(engines, "a").lease("*").release()

    assert engines.asked == ["a+b+secret" if corpora is None else "a+b"]


def test_a_key_that_names_every_corpus_opens_all_of_them() -> None:
    engines = Leasing()
    token = CALLER.set(Key("one", "", frozenset({READ}), frozenset({"a", "b", "secret"})))
    try:
        GuardedEngines(engines, "a").lease("*").release()
    finally:
        CALLER.reset(token)

    assert engines.asked == ["a+b+secret"]


def test_a_key_that_opens_none_of_all_corpora_is_refused() -> None:
    token = CALLER.set(Key("one", "", frozenset({READ}), frozenset({"gone"})))
    try:
        with failing("key_scope"):
            GuardedEngines(Leasing(), "a").lease("*")
    finally:
        CALLER.reset(token)
