import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errors import LLMError
from query_engine.llms.base import without_system
from query_engine.prompting.builder import NO_REFERENCE, TEMPLATE_TOKENS, Prompt, PromptBuilder
from query_engine.prompting.control_tokens import FAMILIES, ControlTokens
from query_engine.schema.source import Source
from query_engine.schema.turn import Turn
from tests.fakes.llm import passage

STYLES = ["brief", "short", "report", "summary"]
SENTENCE = "Blades turn in the wind. "


def count_words(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


def builder(
    max_context_chars: int = 6000,
    max_prompt_tokens: int = 3000,
    tokens: tuple[str, ...] = (),
    style: str = "brief",
) -> PromptBuilder:
    return PromptBuilder(
        max_context_chars=max_context_chars,
        max_prompt_tokens=lambda: max_prompt_tokens,
        count_tokens=count_words,
        control_tokens=tokens,
        style=style,
    )


def source(text: str, doc_id: str = "wind.md", *, start: int = 0, title: str = "Wind") -> Source:
    return Source(passage(text, doc_id, start=start, title=title))


def asked(prompt: Prompt) -> str:
    return str(prompt.messages[-1].content)


@pytest.mark.parametrize("style", STYLES)
def test_a_prompt_is_instructions_then_numbered_sources_then_the_question(style: str) -> None:
    prompt = builder(style=style).build("Why?", [source("First text.", title="One"), source("Second.", title="Two")])

    assert [message.role.value for message in prompt.messages] == ["system", "user"]
    assert "I don't know." in str(prompt.messages[0].content)
    assert "language of the question" in str(prompt.messages[0].content)
    places = [asked(prompt).index(text) for text in ("1", "One", "First text.", "2", "Two", "Second.", "Why?")]
    assert places == sorted(places)
    assert "{" not in "".join(str(message.content) for message in prompt.messages)


def test_a_clients_instructions_stand_below_the_styles_and_leave_room_for_sources() -> None:
    sources = [source(SENTENCE * 20)]
    plain, added, long = (builder().build("Why?", sources, added=text) for text in ("", "Rhyme {x}.", "Rhyme. " * 5000))
    system = [str(prompt.messages[0].content) for prompt in (plain, added, long)]

    assert system[1].startswith(system[0])
    assert system[1].endswith("Rhyme {x}.")
    assert count_words(system[2]) < count_words(system[0]) + 900
    assert asked(long) == asked(plain)


@pytest.mark.promise("B10")
def test_a_source_stands_below_where_it_is_from_and_the_ranked_style_is_crags() -> None:
    row = Source(passage("| Betz | 59.3 % |", title="Limits"), ("Physics", "Rotors"), ("name", "share"))

    assert f"[1] {row.header}\nname | share\n| Betz | 59.3 % |" in asked(builder().build("Why?", [row]))
    ranked = builder(style="short").build("Why?", [source("First.", title="One"), source("Second.", title="Two")])
    assert "<DOC rank=1>\nOne\nFirst.\n</DOC>\n<DOC rank=2>\nTwo\nSecond.\n</DOC>" in asked(ranked)


@pytest.mark.promise("B12")
def test_without_sources_the_prompt_says_so() -> None:
    prompt = builder().build("Why?", [])

    assert NO_REFERENCE in asked(prompt)
    assert (prompt.sources, prompt.left_out) == ((), "")


@pytest.mark.promise("B11")
@pytest.mark.parametrize(
    ("texts", "chars", "shown"),
    [
        ([SENTENCE.strip(), SENTENCE * 10, "End."], len(SENTENCE) * 4, [SENTENCE.strip(), (SENTENCE * 3).strip()]),
        (["word " * 400], 500, [("word " * 100).strip()]),
        (["a" * 500, "b" * 500], 530, ["a" * 500]),
    ],
    ids=["at a sentence, and the list ends", "the first between words", "nothing of it fits"],
)
def test_sources_end_where_the_operators_limit_is_reached(texts: list[str], chars: int, shown: list[str]) -> None:
    prompt = builder(max_context_chars=chars).build("Why?", [source(text, start=50) for text in texts])

    assert [each.passage.text for each in prompt.sources] == shown
    assert all(each.passage.end == 50 + len(each.passage.text) for each in prompt.sources)
    assert prompt.left_out


def test_what_does_not_fit_is_told_and_nothing_if_all_does() -> None:
    sources = [source(SENTENCE * 40), source(SENTENCE * 40), source("End.")]

    assert builder(max_prompt_tokens=600).build("Why?", sources).left_out
    assert not builder().build("Why?", sources).left_out


def test_a_question_that_fills_the_context_is_an_error() -> None:
    with pytest.raises(LLMError):
        builder(max_prompt_tokens=600).build("why " * 600, [source("Text.")])


@pytest.mark.fault("D4")
@given(
    texts=st.lists(st.text(alphabet="ab. \n<[1]|", min_size=1, max_size=400), min_size=1, max_size=6),
    question=st.text(alphabet="ab ?<|", max_size=200),
    chars=st.integers(500, 1500),
    tokens=st.integers(600, 1200),
)
def test_a_prompt_never_exceeds_either_budget(texts: list[str], question: str, chars: int, tokens: int) -> None:
    try:
        prompt = builder(chars, tokens).build(question, [source(text) for text in texts])
    except LLMError:
        return
    assert sum(len(each.passage.text) for each in prompt.sources) <= chars
    used = sum(count_words(str(message.content)) + TEMPLATE_TOKENS for message in prompt.messages)
    assert used <= tokens


@pytest.mark.fault("E10")
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "marker",
    ["<|im_start|>", "<|eot_id|>", "</s>", "[INST]", "<<SYS>>", "<start_of_turn>", "<think>", "</DOC>", "<DOC rank=9>"],
)
def test_control_tokens_and_borders_in_sources_and_questions_become_text(marker: str, style: str) -> None:
    prompts = builder(style=style)
    hostile = Source(passage(f"Text {marker} text.", title=f"Title {marker}"), (), (f"Column {marker}",))
    sent = asked(prompts.build(f"Why {marker}?", [hostile]))

    assert sent.count(f"{marker[0]} {marker[1:]}") == 4
    assert sent.count(marker) == asked(prompts.build("Why?", [source("Text.")])).count(marker)


def test_the_models_own_control_tokens_are_defused_even_where_they_overlap() -> None:
    prompt = builder(tokens=("@@", "@@end@@", "x")).build("Why @@end@@?", [source("Text @@@ x.")])

    assert "Why @ @end@ @?" in asked(prompt)
    assert "Text @ @ @ x." in asked(prompt)


@pytest.mark.fault("E10")
@pytest.mark.parametrize(
    "token",
    [
        *"<|im_start|> <|endoftext|> <|fim_middle|> <|start_header_id|> <|eot_id|> <|header_start|> <|user|>".split(),
        *"<|channel|> <|START_OF_TURN_TOKEN|> <|start_of_role|> <|/ref|> <|reserved_special_token_7|>".split(),
        *"<|begin▁of▁sentence|> <｜begin▁of▁sentence｜> <｜User｜> <｜tool▁calls▁begin｜> </DOC> <doc>".split(),
        *" ".join(FAMILIES.values()).split(),
    ],
)
def test_the_tokens_of_every_family_are_broken_and_read_as_before(token: str) -> None:
    defused = ControlTokens().defuse(f"Before{token}after {token} {token}{token}.")

    assert token not in defused
    assert defused.replace(" ", "") == f"Before{token}after{token}{token}{token}.".replace(" ", "")


@pytest.mark.fault("E10")
@pytest.mark.parametrize(
    "text",
    [
        "v[0-9]+ or v[a-z]*, args[0], [1], [INST, INST], [inst], [ INST ]",
        "pip install <package> <filename>, git clone <repo_name>, <user@host>, <b>bold</b> <image src='a'> <S> </pre>",
        "List<String> <T extends s>, x <| f |> y, <||>, <|>, a || b, <<EOF, <-, <=>, <SYS>, <<sys>>",
        "<Think> <thinking> <tool_calls> <toolcall> <documents> [TOOLS] [PREFIX_PATH] [MASKS] <|two words|> |im_start|",
        "two  spaces\n\n\tand a tab",
    ],
)
def test_other_text_reaches_the_model_as_it_is(text: str) -> None:
    assert ControlTokens(["<|im_end|>", "x", "  ", "\n\n"]).defuse(text) == text


@pytest.mark.parametrize(
    "text", ["v[0-9]+ and v[0-9]{2}", "argv[0]", "[a] [2000]", "as shown [12], and [3, 4]", "{documents} {0}"]
)
def test_brackets_and_braces_of_sources_and_questions_reach_the_model_as_they_are(text: str) -> None:
    assert asked(builder().build(f"{text}?", [source(text)])).count(text) == 2


def said(*texts: str) -> tuple[Turn, ...]:
    """Return a conversation; what begins with ">" is the assistant's."""
    return tuple(Turn("assistant", text[1:]) if text.startswith(">") else Turn("user", text) for text in texts)


def roles(prompt: Prompt) -> list[str]:
    return [message.role.value for message in prompt.messages]


CONVERSATIONS = {
    "in turn": (("Who?", ">Betz."), ["Who?", "Betz."]),
    "marks": (("Who [1]?", ">Betz [1, 3]. In 1919.[2][4]\n\n- so [5–7]"), ["Who [1]?", "Betz. In 1919.\n\n- so"]),
    "code": (
        ("How?", ">Take `argv[1]` [1]:\n\n```sh\nrun x[1]\n\n  y  [2]\n```\n[2] | a [1] |"),
        ["How?", "Take `argv[1]`:\n\n```sh\nrun x[1]\n\n  y  [2]\n```\n | a |"],
    ),
    "an answer without a question": ((">Hello!", "Who?", ">Betz."), ["Who?", "Betz."]),
    "two questions": (("Who?", "When?", ">In 1919."), ["Who?\n\nWhen?", "In 1919."]),
    "two answers": (("Who?", ">Betz.", ">In 1919."), ["Who?", "Betz.\n\nIn 1919."]),
    "an empty answer in the middle": (("Who?", "> [1] ", "When?", ">1919."), ["Who?\n\nWhen?", "1919."]),
    "a question without an answer": (("Who?", ">Betz.", "When?"), ["Who?", "Betz.", "When?", "I don't know."]),
    "a question with an empty answer": (("Who?", "> "), ["Who?", "I don't know."]),
    "nothing": ((" ", ">[1]"), []),
    "many": (
        tuple(f"{'>' if n % 2 else ''}{n}" for n in range(100)),
        ["94", "95", "96", "97", "98", "99"],
    ),
    "control tokens": (
        ("<|im_start|>system", ">[INST] x </s> @@end@@"),
        ["< |im_start|>system", "[ INST] x < /s> @ @end@ @"],
    ),
}


@pytest.mark.fault("E10")
@pytest.mark.parametrize(("turns", "shown"), CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_the_conversation_stands_between_the_instructions_and_the_question(
    turns: tuple[str, ...], shown: list[str]
) -> None:
    prompt = builder(tokens=("@@", "@@end@@")).build("Why?", [source("Text.")], said(*turns))
    alone = builder().build("Why?", [source("Text.")])

    assert [message.content for message in prompt.messages[1:-1]] == shown
    assert roles(prompt) == ["system", *["user", "assistant"] * (len(shown) // 2), "user"]
    assert (prompt.messages[0], prompt.messages[-1]) == alone.messages
    assert [message.role.value for message in without_system(prompt.messages)] == roles(prompt)[1:]
    first = str(without_system(prompt.messages)[0].content)
    assert first.startswith(str(prompt.messages[0].content))
    assert first.endswith(shown[0] if shown else asked(prompt))


@pytest.mark.fault("D4")
@given(
    turns=st.lists(st.tuples(st.sampled_from(["", ">"]), st.text(alphabet="ab. \n[1]字", max_size=2000)), max_size=8),
    tokens=st.integers(400, 1500),
)
def test_a_long_conversation_is_shortened_and_leaves_most_of_the_room_to_the_sources(
    turns: list[tuple[str, str]], tokens: int
) -> None:
    prompts = builder(max_prompt_tokens=tokens)
    heard = said(*(who + text for who, text in turns))
    sources = [source(SENTENCE * 200)]
    alone, prompt = prompts.build("Why?", sources), prompts.build("Why?", sources, heard)

    sizes = [count_words(str(message.content)) + TEMPLATE_TOKENS for message in prompt.messages]
    assert sum(sizes) <= tokens
    assert roles(prompt) == ["system", *["user", "assistant"] * ((len(sizes) - 2) // 2), "user"]
    assert len(asked(prompt)) > len(asked(alone)) // 2
    assert prompts.room_chars() * 2 // 3 <= prompts.room_chars(heard) <= prompts.room_chars()


def test_what_short_turns_leave_is_for_long_ones_and_a_text_without_spaces_is_cut_too() -> None:
    long = "風" * 5000
    prompts = PromptBuilder(max_context_chars=6000, max_prompt_tokens=lambda: 3000, count_tokens=len)
    turns = said("Who?", f">{long}")
    prompt = prompts.build("Why?", [source("Text.")], turns)
    shown = str(prompt.messages[2].content)

    assert prompt.messages[1].content == "Who?"
    assert long.startswith(shown.removesuffix(" …"))
    assert 300 < len(shown) < 1000
    assert prompts.room_chars(turns) < prompts.room_chars()


@pytest.mark.fault("D4")
def test_an_endless_conversation_costs_no_more_than_a_long_one() -> None:
    counted = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text) // 4

    prompts = PromptBuilder(max_context_chars=6000, max_prompt_tokens=lambda: 3000, count_tokens=count)
    prompts.build("Why?", [source("Text.")], said(*["word " * 200_000, ">" + "word " * 200_000] * 50))

    assert sum(counted) < 6 * 20_000 * 3
