import pytest

from index.lexical.language import plain_language, question_language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is a heat pump?", "en"),
        ("bioenergy", "en"),
        ("Wann öffnet das Museum?", "de"),
        ("Combien coûte l'entrée et où est le musée ?", "fr"),
        ("¿Cuántos años hay que tener?", "es"),
        ("Quando è aperto il museo?", "it"),
        ("Quando é que o museu abre?", "pt"),
        ("Hoe laat gaat het museum open?", "nl"),
        ("Когда открыт музей?", "ru"),
        ("博物馆几点开门", "zh"),
        ("博物館は何時に開きますか", "ja"),
        ("박물관은 언제 열리나요?", "ko"),
    ],
)
def test_the_language_of_a_question_is_told_by_its_script_and_function_words(question: str, language: str) -> None:
    assert question_language(question) == language


@pytest.mark.parametrize("question", ["die casting", "Who has a car as a gift?", "solar", "What did he do in Paris?"])
def test_a_single_word_of_another_language_is_no_proof(question: str) -> None:
    assert question_language(question) == "en"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The pump stands in the mill.", "en"),
        ("Die Pumpe steht in der Mühle, und das Wasser kommt von dort.", "de"),
        ("ポンプは水車小屋にある。", "ja"),
        ("mkdir -p build && make all", None),
        ("", None),
    ],
)
def test_the_language_of_a_text_is_named_only_where_words_speak_for_it(text: str, language: str | None) -> None:
    assert plain_language(text) == language
