from pipelines.body import read_plan
from tests.fakes.engines import FakeEngine
from tests.fakes.pipelines import TEXTS, a_registry, an_engine, body_of, fake_services, run_body


def test_passages_become_rows() -> None:
    engine = an_engine()

    state = run_body(body_of(("corpus_datasource", {"limit": 2, "mode": "dense"})), services=fake_services(engine))

    assert state.rows(["id", "doc_id", "full-text", "start", "end", "_original_ranking_"]) == [
        {"id": f"{place}.md#00000", "doc_id": f"{place}.md", "full-text": text, "start": 10, "end": 10 + len(text)}
        | {"_original_ranking_": place + 1}
        for place, text in enumerate(TEXTS[:2])
    ]
    assert (engine.options[0].top_k, engine.options[0].mode) == (2, "dense")
    assert state.history[0].warnings == ("rerank_skipped: It is too slow.",)


def test_leaves_are_not_merged() -> None:
    engine = an_engine()

    run_body(body_of(("corpus_datasource", {"unit": "leaves"})), services=fake_services(engine))

    assert engine.options[0].merge is False


def test_nothing_found_is_an_empty_table_with_a_warning() -> None:
    state = run_body(
        body_of("corpus_datasource", "embedding_reranker", "word_counter", "all_results_summarizer"),
        services=fake_services(an_engine([])),
    )

    assert state.rows() == []
    assert "The corpus holds nothing for this query." in state.history[0].warnings
    assert state.history[-1].warnings == ("There is nothing to summarise.",)


def test_two_corpora_follow_each_other() -> None:
    other = an_engine(["Snow lies."])
    services = fake_services(an_engine(), FakeEngine(corpus="other"))
    services.engines.engines["other"].found = other.found  # type: ignore[attr-defined]

    state = run_body(body_of("corpus_datasource", ("corpus_datasource", {"corpus": "other"})), services=services)

    assert state.values("_original_ranking_") == [1, 2, 3, 4]
    assert state.values("full-text")[3] == "Snow lies."


def test_a_filter_may_be_json_in_text() -> None:
    engine = an_engine()
    filters = '{"filters": [{"key": "year", "value": 2020}]}'

    run_body(body_of(("corpus_datasource", {"filters": filters})), services=fake_services(engine))

    assert engine.filters == [{"filters": [{"key": "year", "value": 2020}]}]


def test_metadata_become_columns() -> None:
    state = run_body(body_of(("corpus_datasource", {"metadata_columns": "year, topic,year"})))

    assert state.columns[-2:] == ["year", "topic"]


def test_no_lease_is_kept() -> None:
    services = fake_services()

    run_body(body_of("corpus_datasource"), services=services)

    assert services.engines.leases == 0  # type: ignore[attr-defined]


def test_the_columns_that_it_names_are_those_that_it_adds() -> None:
    body = body_of(("corpus_datasource", {"output_column": "text", "metadata_columns": "year"}))
    plan = read_plan(body, a_registry(), fake_services())

    assert sorted(plan.steps[0].step.writes()) == sorted(run_body(body).columns)
