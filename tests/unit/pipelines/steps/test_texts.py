"""Steps that change texts or say something about them."""

import pytest

from pipelines.registry import BUILT_IN
from pipelines.state import PipelineState
from pipelines.step import RerankerStep, SourceStep
from pipelines.steps.metadata import with_marks
from pipelines.steps.relevance import best_spans, scored_sentences
from tests.fakes.pipelines import an_engine, body_of, fake_services, run_body
from tests.fakes.reading import WordReader

GERMAN = "Der Wind dreht die Blätter, und die Sonne wärmt das Salz."


def over(texts: list[str], *steps: object, query: str = "What turns blades?") -> PipelineState:
    return run_body(body_of("corpus_datasource", *steps, query=query), services=fake_services(an_engine(texts)))


def test_words_are_counted() -> None:
    assert over(["Wind turns well-known blades.", ""], "word_counter").values("wordCount") == [4, 0]


def test_languages_are_named() -> None:
    long = " ".join([GERMAN] * 5)

    assert over([long, GERMAN, "Wind turns."], "language_detection").values("language") == ["de", "de", "en"]


def test_stop_words_go_by_the_language_of_each_text() -> None:
    state = over([GERMAN, "The wind and the sun.", "El viento y el sol."], "language_detection", "stopword_removal")

    assert state.values("without-stopwords") == [
        "Wind dreht Blätter, Sonne wärmt Salz.",
        "wind sun.",
        "El viento y el sol.",
    ]


def test_without_a_language_column_the_words_tell_it() -> None:
    state = over([GERMAN], ("stopword_removal", {"language_column": ""}))

    assert state.values("without-stopwords") == ["Wind dreht Blätter, Sonne wärmt Salz."]


def test_endings_are_cut_and_the_rest_stays() -> None:
    state = over(["Turbines turned, quickly!", GERMAN], ("text_stemmer", {"language_column": ""}))

    assert state.values("stemmed")[0] == "turbin turn, quick!"
    assert "blatt" in state.values("stemmed")[1]


def test_punctuation_goes_from_texts_and_query() -> None:
    state = over(["Wind (strong), turns!"], ("punctuation_removal", {"process_query": "Yes"}))

    assert state.values("without-punctuation") == ["Wind strong turns"]
    assert state.query == "What turns blades"
    assert over(["x"], "punctuation_removal").query == "What turns blades?"


TEXT = "Rain falls on all hills. Strong wind turns blades quickly. The sun heats the salt in its tank."


def test_relevant_sentences_are_marked_and_cited_exactly() -> None:
    state = over([TEXT], "relevance_marking_step")

    (row,) = state.rows(["highlight-full-text", "relevant_spans", "start"])
    assert row["highlight-full-text"] == TEXT.replace(
        "Strong wind turns blades quickly.", "**Strong wind turns blades quickly.**"
    )
    (span,) = row["relevant_spans"]
    assert TEXT[span["start"] - row["start"] : span["end"] - row["start"]] == span["quote"]
    assert span["quote"] == "Strong wind turns blades quickly."


@pytest.mark.promise("D30")
@pytest.mark.parametrize(
    "text", ["", "wind", TEXT, TEXT * 40, "# Blades\n\n- turns\n- blades\n\n| a | turns blades |\n"]
)
def test_nothing_is_lost_by_marking(text: str) -> None:
    spans = best_spans(scored_sentences(WordReader(), "What turns blades?", text), most=3)

    assert with_marks(text, spans).replace("**", "") == text
    assert all(0 <= start < end <= len(text) for start, end in spans)


def test_a_summary_quotes_the_document() -> None:
    long = TEXT + " A tall tower finds more wind than a low one. Blades of glass are light and strong."

    state = over([long, "Short."], ("llm_summarizer", {"sentences": 2}))

    summary, short = state.values("summary")
    assert short == "Short."
    assert all(part.strip(". ") in long for part in summary.split(". "))
    assert summary.count(".") == 2


def test_a_summary_of_all_quotes_with_places_and_begins_with_the_query() -> None:
    state = over(
        [TEXT, TEXT, "Snow lies on the high mountains all year."],
        ("all_results_summarizer", {"sentences": 1}),
        query="strong wind turns blades",
    )

    (summary,) = state.aggregated
    assert summary["data"] == "Strong wind turns blades quickly. [1]"
    (citation,) = summary["citations"]
    assert citation["doc_id"] == "0.md"
    assert TEXT[citation["start"] - 10 : citation["end"] - 10] == citation["quote"]


def test_a_summary_of_all_prefers_the_first_documents_and_says_nothing_twice() -> None:
    texts = ["Wind turns blades. Blades turn.", "Wind turns blades. Wind blows.", "They turn:\n\n---\n\nBlades shine."]

    state = over(texts, ("all_results_summarizer", {"sentences": 3}), query="turns blades")

    (summary,) = state.aggregated
    assert summary["data"] == "Wind turns blades. [1] Blades turn. [2] Blades shine. [3]"
    assert [one["doc_id"] for one in summary["citations"]] == ["0.md", "0.md", "2.md"]


@pytest.mark.parametrize("step", BUILT_IN, ids=lambda step: step.id)
def test_a_declaration_says_what_a_page_needs(step: type) -> None:
    info = step.get_info()  # type: ignore[attr-defined]

    assert info["name"] == step.get_name()  # type: ignore[attr-defined]
    assert info["description"].endswith(".")
    for parameter in info["parameters"].values():
        assert {"title", "description", "type", "enforce-limit", "required", "supported-values", "default"} <= set(
            parameter
        )
        assert parameter["title"]
        assert parameter["type"] in {"dropdown", "number", "text"}
        assert not parameter["enforce-limit"] or parameter["default"] in parameter["supported-values"]


def test_ids_are_those_of_mosaicrag_where_it_names_them() -> None:
    ids = {step.id for step in BUILT_IN}

    assert {"llm_summarizer", "all_results_summarizer", "embedding_reranker", "word_counter", "tf_idf_reranker"} <= ids
    assert {"punctuation_removal", "stopword_removal", "text_stemmer", "group_llm_reranker"} <= ids
    assert {"reduction_step", "relevance_marking_step", "tournament_llm_reranker"} <= ids
    assert any(issubclass(step, SourceStep) for step in BUILT_IN)
    assert any(issubclass(step, RerankerStep) for step in BUILT_IN)
