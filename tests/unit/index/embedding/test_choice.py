"""Which packaged model fits which languages."""

import pytest

from index.embedding.choice import choose, is_misfit


@pytest.mark.parametrize(
    ("languages", "model"),
    [
        ({}, "minilm"),
        ({"en": 1}, "minilm"),
        ({"en": 20}, "minilm"),
        ({"en-GB": 3, "en_US": 1, "EN": 1}, "minilm"),
        ({"en": 18, "de": 2}, "minilm"),
        ({"en": 17, "de": 3}, "multilingual"),
        ({"en": 1, "fr": 1}, "multilingual"),
        ({"de": 1}, "multilingual"),
        ({"es": 4, "ja": 2}, "multilingual"),
        ({"en": 6, "de": 5, "es": 5, "fr": 4}, "multilingual"),
    ],
)
def test_english_has_its_own_model(languages: dict[str, int], model: str) -> None:
    choice = choose(languages)

    assert choice.model == model
    assert all(str(count) in choice.reason for count in languages.values())


@pytest.mark.parametrize(
    ("model", "languages", "misfit"),
    [
        ("minilm", {}, False),
        ("minilm", {"en": 2, "de": 1}, False),
        ("minilm", {"en": 1, "de": 1}, False),
        ("minilm", {"en": 1, "de": 2}, True),
        ("minilm", {"fr": 1}, True),
        ("multilingual", {"fr": 1}, False),
        ("multilingual", {"en": 1}, False),
        ("/models/own", {"fr": 1}, False),
    ],
)
def test_only_most_documents_in_another_language_are_worth_a_warning(
    model: str, languages: dict[str, int], misfit: bool
) -> None:
    assert is_misfit(model, languages) is misfit
