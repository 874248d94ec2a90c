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


def _leaves(texts: dict[str, str]) -> LexicalIndex:
    index = LexicalIndex(None)
    index.add([(f"{name}.1", name, text, "") for name, text in texts.items()])
    return index


def _found(index: LexicalIndex, question: str) -> list[str]:
    words = index.words_of(question)
    terms = {term: words.weight(term) for term in words.query_terms(question)}
    found = words.search(terms, (), 5)
    assert words.held(terms, [name for name, _ in found])[found[0][0]]
    return [name for name, _ in found]


def test_words_are_found_in_other_forms_by_the_stemmer_of_the_questions_language() -> None:
    index = _leaves(
        {
            "de": "Die Kündigung ist schriftlich wirksam.",
            "fr": "Nettoyez le filtre une fois par mois.",
            "es": "Un técnico debe revisar la caldera.",
            "it": "L'affitto si paga ogni mese.",
            "pt": "O inquilino paga a conta da água.",
            "nl": "De huurder betaalt de rekeningen.",
            "ru": "Договор аренды заключён на год.",
            "sv": "Hyresgästen betalar räkningen varje månad.",
            "en": "Nothing here speaks of that.",
        }
    )

    assert _found(index, "Sind die Kündigungen gültig?")[0] == "de.1"
    assert _found(index, "Quand faut-il laver les filtres ?")[0] == "fr.1"
    assert _found(index, "¿Cada cuánto se revisan las calderas?")[0] == "es.1"
    assert _found(index, "Quanto sono gli affitti?")[0] == "it.1"
    assert _found(index, "Quem paga as contas?")[0] == "pt.1"
    assert _found(index, "Wie zijn de huurders?")[0] == "nl.1"
    assert _found(index, "Когда заканчиваются договоры?")[0] == "ru.1"
    assert _found(index, "Vem ska betala räkningarna?")[0] == "sv.1"


def test_english_questions_see_the_index_as_it_is() -> None:
    index = _leaves({"en": "Rent is due monthly."})

    assert index.words_of("When is the rent due?") is index


def test_forms_are_looked_up_again_after_a_change() -> None:
    index = _leaves({"de": "Die Kaution beträgt 100 Euro."})
    before = index.words_of("Wie hoch ist die Kaution?")
    assert before.weight("kaution") < before.weight("miet")

    index.add([("x.1", "x", "Die Miete ist zu zahlen.", "")])

    after = index.words_of("Wie hoch ist die Miete?")
    assert after.weight("miet") == after.weight("kaution")


def test_what_asks_and_inflects_is_no_term_of_a_chinese_or_japanese_question() -> None:
    index = _leaves({"zh": "承租人应支付押金。房租每月支付。", "ja": "夏祭りは八月に行う。", "en": "Other."})

    assert set(index.words_of("押金什么时候退？").query_terms("押金什么时候退？")) == {"押金", "退"}
    japanese = "夏のお祭りはいつですか？"
    assert set(index.words_of(japanese).query_terms(japanese)) == {"夏", "祭"}
    assert _found(index, japanese) == ["ja.1"]
    assert _found(index, "租金多少？") == ["zh.1"]  # by the character 租 of 房租
