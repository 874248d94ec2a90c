"""Naming the language of a text."""

import pytest

from ingestion.reading.language import LanguageNamer

TEXTS = {
    "en": "Wind turbines turn the energy of moving air into electricity. A rotor drives a generator. ",
    "de": "Windräder wandeln die Energie bewegter Luft in Strom um. Ein Rotor treibt einen Generator. ",
    "fr": "Les éoliennes transforment l'énergie du vent en électricité. Un rotor entraîne un générateur. ",
    "ru": "Ветряные турбины превращают энергию движущегося воздуха в электричество. Ротор вращает генератор тока. ",
    "zh": "风力涡轮机将流动空气的能量转化为电能。带有三个叶片的转子驱动发电机。",
}


@pytest.fixture(scope="module")
def namer() -> LanguageNamer:
    return LanguageNamer()


@pytest.mark.parametrize("language", TEXTS)
def test_a_few_sentences_are_enough(namer: LanguageNamer, language: str) -> None:
    assert namer.name(TEXTS[language] * 8) == language


@pytest.mark.parametrize("text", [TEXTS["en"], "12.5 | 13.7 | 14.2\n" * 100, "A1 B2 C3 " * 100, ""])
def test_short_texts_and_tables_of_numbers_have_none(namer: LanguageNamer, text: str) -> None:
    assert namer.name(text) is None
