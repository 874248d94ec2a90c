import sys

import pytest

from errors import ModelError, SettingsError
from query_engine.llms.base import LoadedModel
from query_engine.retrieval.reranking.build import build_reranker
from query_engine.runtime.deadline import Deadline
from settings import LLMSettings, RerankSettings, Settings
from tests.fakes.llm import FakeLLM

LLM = LoadedModel(FakeLLM(says=[]), "fake", lambda: 4096, len)


@pytest.mark.parametrize(
    ("rerank", "fact"),
    [
        (RerankSettings(method="cross_encoder"), "needs RAG_RERANK__MODEL"),
        (RerankSettings(method="listwise"), "takes 80 tokens; RAG_LLM__MAX_NEW_TOKENS=16 allows fewer"),
    ],
    ids=["no model", "no room for the reply"],
)
def test_settings_that_cannot_work_are_refused(rerank: RerankSettings, fact: str) -> None:
    with pytest.raises(SettingsError, match=fact):
        build_reranker(Settings(rerank=rerank, llm=LLMSettings(max_new_tokens=16)), LLM)


def test_ranking_by_a_language_model_needs_one() -> None:
    with pytest.raises(SettingsError, match=r"needs a language model\. Set RAG_LLM__PROVIDER"):
        build_reranker(Settings(rerank=RerankSettings(method="listwise")), None)


@pytest.mark.promise("E14")
@pytest.mark.parametrize("rerank", [RerankSettings(), RerankSettings(method="none", model="a/model")])
def test_nothing_is_reranked_unless_it_is_asked_for(rerank: RerankSettings) -> None:
    assert build_reranker(Settings(rerank=rerank), LLM) is None


def test_a_cross_encoder_without_its_library_says_so_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "query_engine.retrieval.reranking.cross_encoder", raising=False)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    reranker = build_reranker(Settings(rerank=RerankSettings(model="a/model")), None)

    assert reranker is not None
    with pytest.raises(ModelError, match=r"needs sentence_transformers, .*pip install torch -c constraints\.txt"):
        reranker.score("?", ["text"], Deadline(60))
