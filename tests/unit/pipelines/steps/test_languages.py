"""Steps whose outcome depends on the language of each text: stop words, stems, dictionary forms."""

from typing import Any

import pytest

from errors import PipelineError
from pipelines.state import PipelineState
from pipelines.step import FULL_TEXT
from pipelines.steps.cleaning import STOPPED_LANGUAGES, StopwordRemoval, stop_words
from pipelines.steps.languages import language_code
from pipelines.steps.lemmatizing import DICTIONARIES
from tests.fakes.pipelines import a_handler, run_step

GERMAN = "Der Wind dreht die Blätter in vielen Städten."


def lemmatized(text: str, language: str) -> str:
    return str(run_step([text], ("text_lemmatization", {"language": language})).values("lemmatized")[0])


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("en", "en"),
        ("ENG ", "en"),
        ("de-AT", "de"),
        ("fre", "fr"),
        ("ita", "it"),
        ("zh_Hans", "zh"),
        ("", ""),
        ("x", "x"),
    ],
)
def test_codes_of_two_and_three_letters_are_one(written: str, code: str) -> None:
    assert language_code(written) == code


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "the because while against between himself"),
        ("de", "der aber wenn auch nur noch sein einige"),
        ("fr", "le nous avec mais leur même étaient"),
        ("it", "il anche questo della sono loro perché"),
    ],
)
def test_stop_words_are_those_of_nltk(language: str, words: str) -> None:
    assert set(words.split()) <= stop_words(language)
    assert language in STOPPED_LANGUAGES


@pytest.mark.parametrize(
    ("text", "language", "left"),
    [
        ("L’eau de la mer n'est pas l'eau « du » lac.", "fr", "eau mer eau « » lac."),
        ("L'acqua dell'isola e il vento (della montagna).", "ita", "acqua isola vento montagna)."),
        ("Aber wenn der Wind weht, dann dreht sich das Blatt - oder?", "deu", "Wind weht, dreht Blatt -"),
        ("It's the wind's own O'Brien's blades", "en", "wind's O'Brien's blades"),
    ],
)
def test_stop_words_go_with_their_apostrophes(text: str, language: str, left: str) -> None:
    state = PipelineState("q").with_documents({FULL_TEXT: [text], "language": [language]}, {})

    step = StopwordRemoval(StopwordRemoval.Parameters())
    assert step.transform(state, a_handler()).values("without-stopwords") == [left]


@pytest.mark.promise("D17")
@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "The turbines turned, and mice were running!", "the turbine turn, and mouse be run!"),
        ("de", GERMAN, "der Wind drehen der Blatt in viel Stadt."),
        ("fr", "Les éoliennes étaient grandes.", "le éolienne être grand."),
        ("ita", "Le turbine producono energia.", "il turbina produrre energia."),
        ("es", "Los molinos giraban.", "el molino girar."),
        ("hr", "Vjetar okreće lopatice.", None),
        ("NO", "Vinden dreier bladene.", None),
    ],
)
def test_words_take_their_dictionary_form_without_a_download(language: str, text: str, expected: str | None) -> None:
    found = lemmatized(text, language)

    assert found.endswith(text[-1])
    assert expected is None or found == expected


def test_the_language_column_tells_each_texts_dictionary() -> None:
    state = run_step([" ".join([GERMAN] * 5), "Blades turned."], "language_detection", "text_lemmatization")

    german, english = state.values("lemmatized")
    assert german.startswith("der Wind drehen der Blatt")
    assert english == "blade turn."
    assert state.history[-1].warnings == ()


@pytest.mark.parametrize(
    ("step", "column"),
    [
        ("stopword_removal", "without-stopwords"),
        ("text_stemmer", "stemmed"),
        ("text_lemmatization", "lemmatized"),
    ],
)
def test_texts_of_other_languages_stay_and_are_told(step: str, column: str) -> None:
    texts = ["これは風です。", "Wind turns."]

    state = run_step(texts, "language_detection", step)

    assert state.values(column)[0] == texts[0]
    told = "1 of 2 texts stay as they are, for this step lacks their language: ja."
    assert state.history[-1].warnings == (told,)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"language": "tlh"}, "no dictionary of the language 'tlh'"),
        ({"language": "deutsch"}, "nearest known one is"),
        ({"langage": "de"}, "nearest known one is 'language'"),
        ({}, "reads column 'language', which no step before it adds"),
        ({"language_column": "lang"}, "reads column 'lang'"),
        ({"language": "de", "input_column": "text"}, "reads column 'text'"),
    ],
)
def test_what_cannot_work_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(PipelineError, match=told):
        run_step(["Wind."], ("text_lemmatization", given))


def test_some_fifty_languages_have_a_dictionary() -> None:
    assert {"en", "de", "fr", "it", "es", "pt", "nl", "pl", "ru", "no", "hr", "uk"} <= DICTIONARIES.keys()
    assert len(DICTIONARIES) > 50


def test_no_documents_are_no_failure() -> None:
    state: PipelineState = run_step([], ("text_lemmatization", {"language": "en"}))

    assert state.values("lemmatized") == []
