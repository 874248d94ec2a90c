"""Replies in tags, kept and malformed: what each rule assumes."""

import pytest

from research.tags import ReviewReply, is_same_query, read_queries, read_review, was_asked

KEPT = (
    "<useful-docs>2, 1</useful-docs><summary>Betz  did.</summary><is-sufficient>no</is-sufficient>"
    "<new-query>rotor limit</new-query>"
)


def test_a_reply_that_keeps_the_tags_is_read() -> None:
    assert read_review(KEPT, 3) == ReviewReply((1, 0), "Betz did.", False, ("rotor limit",))


@pytest.mark.parametrize(
    ("reply", "useful", "sufficient", "queries"),
    [
        ("<USEFUL_DOCS>1</USEFUL_DOCS> <Is Sufficient>Yes.</Is Sufficient>", (0,), True, ()),
        ("`<useful-docs>` 1 - 3 `<is-sufficient>` **no** `<new-query>` wind", (0, 1, 2), False, ("wind",)),
        ("<useful-docs>1\n<is-sufficient>no\n<new-query>wind power\n<summary>a", (0,), False, ("wind power",)),
        ("<useful-docs>none</useful-docs><is-sufficient>no", (), False, ()),
        ("<useful-docs></useful-docs><useful-docs>2</useful-docs>", (1,), False, ()),
        ("<useful-docs>all of them</useful-docs>", None, False, ()),
        ("<useful-docs>the first</useful-docs>", None, False, ()),
        ("<useful-docs>7, 9</useful-docs>", None, False, ()),
        ("<useful-docs>[1], doc 9</useful-docs>", (0,), False, ()),
        ("<is-sufficient>perhaps</is-sufficient>", None, False, ()),
        ("<is-sufficient>not yet</is-sufficient>", None, False, ()),
        ("<new-query>None</new-query>", None, False, ()),
        ('<new-query>1. "wind"\n2. Wind!\n- water</new-query>', None, False, ("wind", "water")),
        ("<new-query>wind</new-query><new-query>water</new-query>", None, False, ("wind", "water")),
        (f"<new-query>{'wind ' * 100}</new-query>", None, False, ()),
        ("I would say that this is enough.", None, False, ()),
        ("", None, False, ()),
        ("<useful-docs>" * 50, None, False, ()),
    ],
)
def test_malformed_tags_survive(
    reply: str, useful: tuple[int, ...] | None, sufficient: bool, queries: tuple[str, ...]
) -> None:
    read = read_review(reply, 3)

    assert (read.useful, read.sufficient, read.queries) == (useful, sufficient, queries)


def test_queries_are_read_from_tags_or_lines() -> None:
    tagged = "<query>rotor limit</query> <query>Rotor limit?</query><query>gear wear</query><query>Who?</query>"

    assert read_queries(tagged, "who") == ("rotor limit", "gear wear")
    assert read_queries("Here are some:\n1. rotor limit\n2. gear wear", "Who?") == ("rotor limit", "gear wear")
    assert read_queries("none", "Who?") == ()


def test_queries_are_the_same_but_for_case_and_punctuation() -> None:
    assert is_same_query("Rotor limit?", "rotor  LIMIT")
    assert not is_same_query("rotor limit", "limit rotor")
    assert was_asked("wind!", ["water", "Wind"])
