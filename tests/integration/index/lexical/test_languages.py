"""Questions in other languages than English: which words are searched for."""

from index.lexical.tantivy_index import LexicalIndex, search_words


def test_chinese_and_japanese_words_are_found() -> None:
    index = LexicalIndex(None)
    index.add(
        [("a.1", "a", "语音导览有六种语言:英语、德语、法语", "参观指南"), ("b.1", "b", "Tickets are sold here.", "x")]
    )
    index.add([("c.1", "c", "博物館は午前十時に開きます。", "案内")])

    asked = {term: index.weight(term) for term in index.query_terms("语音导览有几种语言?")}
    assert [name for name, _ in index.search(asked, (), 5)] == ["a.1"]
    assert [name for name, _ in index.search({}, index.query_terms("参观指南"), 5)] == ["a.1"]
    assert [name for name, _ in index.search(dict.fromkeys(index.query_terms("博物館"), 1.0), (), 5)] == ["c.1"]
    assert index.holding("六种") == ["a.1"]
    assert index.terms("The salt 鹿 of Japan") == ["the", "salt", "鹿", "of", "japan"]


def test_function_words_of_the_questions_language_are_left_out() -> None:
    assert search_words("Wie viele Leute dürfen bei einer Führung mitgehen?") == ["Leute", "Führung", "mitgehen?"]
    assert search_words("¿Cuántos años hay que tener para hacer el taller?") == ["años", "tener", "hacer", "taller?"]
    assert search_words("What does the die casting cost?") == ["die", "casting", "cost?"]
