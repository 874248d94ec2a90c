"""The model answers what its prompt holds, however sources are numbered, and nothing else."""

from typing import Any

import pytest

from bench.quality.helpful.nuggets import NuggetCase
from bench.writer.oracle import DECLINED, Oracle, Reply, planted
from eval.cases import Nugget, Region

SALT = NuggetCase(
    id="salt-1",
    corpus="salt",
    form="how",
    question="How is salt made?",
    answer="The sun dries it, and workers rake it.",
    nuggets=(
        Nugget(text="sun", vital=True, any=("sun dries", "dried by the sun")),
        Nugget(text="rake", vital=True, any=("`rake --salt`",)),
        Nugget(text="wind", vital=True, any=("by the wind",)),
        Nugget(text="June", vital=False, any=("in june",)),
    ),
    regions=(Region(doc="salt.md", quote_start="The sun", quote_end="salt"),),
)
NEAR_MISS = NuggetCase(id="salt-2", corpus="salt", form="near_miss", question="Is salt made in Peru?", answer=None)
LONGER = SALT.model_copy(update={"id": "salt-3", "question": "And by hand: how is salt made?", "answer": "By rakes."})
TEXTS = ("Tickets cost four pounds.", "Dried by\nthe SUN, in June.", "Then `rake  --salt`.")
ASKED = f"\n\nUsing only these: {SALT.question}"


def prompt(header: str, *texts: str, asked: str = ASKED) -> str:
    return "\n".join(f"{header.format(number)}\n{text}" for number, text in enumerate(texts, start=1)) + asked


def reply(*contents: Any, shape: Any = "plain") -> Reply:
    return Oracle([SALT, NEAR_MISS, LONGER], shape).reply([{"role": "user", "content": text} for text in contents])


@pytest.mark.parametrize(
    "header",
    [
        "<DOC rank={}>\nSalt",
        '<source id="{}" title="Salt">',
        "  <document index='{}'>",
        "[{}] Salt › How › Raking — guides/salt.md, 2024-05-01",
        "**[{}]** Salt",
        "【{}】 Salt",
        "## Document {}: Salt",
        "Source {}:",
        "> passage {}",
    ],
)
def test_the_sources_that_hold_the_facts_are_cited_whatever_their_header_looks_like(header: str) -> None:
    told = reply(prompt(header, *TEXTS))

    assert (told.text, told.case_id) == (f"{SALT.answer} [2][3]", "salt-1")
    assert (told.cited, told.found, told.vital, told.right) == ((2, 3), 2, 3, True)


@pytest.mark.parametrize(
    ("contents", "text", "case_id", "found", "vital"),
    [
        ([prompt("[{}]", TEXTS[1])], DECLINED, "salt-1", 1, 3),
        ([prompt("[{}]", *TEXTS, asked=f"\n{NEAR_MISS.question}")], DECLINED, "salt-2", 0, 0),
        ([prompt("[{}]", *TEXTS, asked="\nHow is sugar made?")], DECLINED, None, 0, 0),
        ([prompt("[{}]", *TEXTS, asked="\nhow is SALT made")], f"{SALT.answer} [2][3]", "salt-1", 2, 3),
        ([prompt("[{}]", *TEXTS, asked=f"\n{LONGER.question}")], f"{LONGER.answer} [2][3]", "salt-3", 2, 3),
        ([f"{SALT.question} {NEAR_MISS.question}"], NEAR_MISS.question, "salt-2", 0, 0),
        ([f"Rephrase: {SALT.question}"], SALT.question, "salt-1", 0, 0),
        ([prompt("[{}]", *TEXTS, asked=""), SALT.question], f"{SALT.answer} [2][3]", "salt-1", 2, 3),
        ([prompt("[{}]", "An example."), prompt("[{}]", *TEXTS)], f"{SALT.answer} [2][3]", "salt-1", 2, 3),
        ([[{"type": "text", "text": prompt("[{}]", *TEXTS)}]], f"{SALT.answer} [2][3]", "salt-1", 2, 3),
        ([prompt("[{}]", TEXTS[0], "[9] A note.\n" + TEXTS[1], TEXTS[2])], f"{SALT.answer} [2][3]", "salt-1", 2, 3),
    ],
    ids=[
        "a third of the facts",
        "near miss",
        "unknown question",
        "in other letters",
        "of two the longer one",
        "of two the last one",
        "no sources",
        "sources in an earlier message",
        "an example in an earlier message",
        "content in parts",
        "a footnote in a source",
    ],
)
def test_only_a_prompt_that_asks_and_holds_half_of_the_facts_gets_the_answer(
    contents: list[Any], text: str, case_id: str | None, found: int, vital: int
) -> None:
    told = reply(*contents)

    assert (told.text, told.case_id, told.found, told.vital) == (text, case_id, found, vital)
    assert told.right == (text not in {DECLINED, SALT.question, NEAR_MISS.question})


def test_in_markdown_the_answer_stands_beside_a_table_and_code_that_looks_like_links_and_marks() -> None:
    told = reply(prompt("[{}]", *TEXTS), shape="markdown")

    assert told.cited == (2, 3)
    for part in (str(SALT.answer), "【2】【3】", "|---|", "`<value>`", "```sh\nrun", "https://host.example/a[0]\n```"):
        assert part in told.text


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("Run `salt --dry` for 12 hours.", "Run `salt --dry-all` for 12 hours."),
        ("It takes 12 hours, since version 2.3.10.", "It takes 12 hours, since version 2.3.13."),
        ("The sun dries it.", "The sun dries it."),
    ],
)
def test_an_option_or_a_figure_is_planted(answer: str, wrong: str) -> None:
    assert planted(answer) == wrong


def test_the_characters_of_all_messages_are_counted() -> None:
    assert reply("abc", [{"type": "text", "text": "de"}, {"type": "image_url"}], SALT.question).chars == 5 + len(
        SALT.question
    )
