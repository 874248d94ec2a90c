import pytest

from errors import LLMError
from query_engine.question.condense import Condenser, carry_words, points_back
from query_engine.runtime.deadline import Deadline
from query_engine.schema.turn import Turn
from tests.fakes.llm import FakeLLM, asker


def user(text: str) -> Turn:
    return Turn("user", text)


def assistant(text: str) -> Turn:
    return Turn("assistant", text)


TOWER = (user("How tall is the Eiffel Tower?"), assistant("It is **330 metres** tall. [1]"))


@pytest.mark.parametrize(
    "question",
    ["How often does it fail?", "Who invented them?", "And in winter?", "In winter?", "What about wind?", "Why?",
     "What is that?", "Which one lasts longer?", "What was his name?"],
)  # fmt: skip
def test_a_question_that_leans_on_another_is_told(question: str) -> None:
    assert points_back(question)


@pytest.mark.parametrize(
    "question",
    ["What is a heat pump?", "In which year did Alfred Nobel die?", "Who is the man that wrote Faust?",
     "Why do wind turbines fail?", "Wie laut ist eine Wärmepumpe?", "Compare solar and wind power"],
)  # fmt: skip
def test_a_question_that_stands_on_its_own_stays_as_it_is(question: str) -> None:
    condensed = carry_words(TOWER, question)

    assert (condensed.question, condensed.how) == (question, "unchanged")


def test_without_a_model_the_words_of_the_question_before_come_along() -> None:
    condensed = Condenser().condense(TOWER, "Who built it?")

    assert (condensed.question, condensed.how) == ("Who built it (Eiffel Tower)?", "words")


def test_the_subject_lasts_through_several_turns_and_ends_with_a_new_one() -> None:
    follow_up = (*TOWER, user("Who built it?"))

    assert "Eiffel Tower" in carry_words(follow_up, "Why did he?").question
    assert "Eiffel" not in carry_words((*follow_up, user("What is a heat pump?")), "Is it loud?").question


def test_a_name_that_was_the_answer_comes_along() -> None:
    turns = (user("Who invented dynamite?"), assistant("**Alfred Nobel** invented it. [1]"))

    assert carry_words(turns, "When was he born?").question == "When was he born (invented dynamite Alfred Nobel)?"


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        ("What is the notice period?", "And during probation?", "And during probation (notice period)?"),
        ("What was the revenue in 2022?", "and in 2023?", "and in 2023 (revenue)?"),
        ("Is the museum open in January?", "And in July?", "And in July (museum open January)?"),
        ("What is the notice period?", "why?", "why (notice period)?"),
        ("How heavy is the Airbus A380 with fuel?", "When did it first fly?", "When did it first fly (Airbus A380)?"),
        ("Is the new version v3.12 fast?", "How does that work?", "How does that work (new version v3.12 fast)?"),
        ("Why is Acme's revenue so low?", "Who said that?", "Who said that (Acme revenue)?"),
        ("How loud is a heat pump?", "Is it dear?", "Is it dear (loud heat pump)?"),
        ("What is the capital of France?", "What about Peru?", "What about Peru (capital)?"),
        ("How old is Ada Byron?", "How much?", "How much (old Ada Byron)?"),
        ("What is the total IT budget?", "Who approves it?", "Who approves it (total IT budget)?"),
        ("What is the total IT budget?", "It is approved by whom?", "It is approved by whom (total IT budget)?"),
        ("What is the total IT budget?", "Thanks. It is how high?", "Thanks. It is how high (total IT budget)?"),
        ("What is the total IT budget?", "And the US budget?", "And the US budget (total IT)?"),
        ("What is the total IT budget?", "WHO APPROVES IT?", "WHO APPROVES IT (total IT budget)?"),
        ("What is the total IT budget?", "Who Approves It?", "Who Approves It (total IT budget)?"),
        ("WHAT IS THE ROOM FEE?", "how is it paid?", "how is it paid (ROOM FEE)?"),
        ("Who runs IT?", "Since when do they?", "Since when do they (runs IT)?"),
        ("How full is the hall?", "And during the WHO summit?", "And during the WHO summit (full hall)?"),
        ("How full is the hall for IT?", "And for US-based staff?", "And for US-based staff (full hall IT)?"),
    ],
)
def test_what_points_back_takes_along_what_it_is_about(before: str, question: str, whole: str) -> None:
    condensed = carry_words((user(before), assistant("So it is. [1]")), question)

    assert (condensed.question, condensed.how) == (whole, "words")


def test_another_year_takes_the_place_of_the_one_before() -> None:
    turns = (user("Who paid most in 2022?"), assistant("Acme. [1]"))

    assert carry_words(turns, "What did they pay in 2023?").question == "What did they pay in 2023 (paid)?"


def test_a_summary_leaves_its_document_as_the_subject() -> None:
    assert (
        carry_words((user("Summarise the lease"), assistant("..")), "Who signed it?").question
        == "Who signed it (lease)?"
    )


def test_a_model_rewrites_the_question_and_sees_the_turns_as_plain_text() -> None:
    llm = FakeLLM(says=['"Who built the ', 'Eiffel Tower?"\n', "When was the ", "Eiffel Tower built?"])

    condensed = Condenser(asker(llm)).condense(TOWER, "Who built it?")

    assert (condensed.question, condensed.how, condensed.warnings) == ("Who built the Eiffel Tower?", "model", ())
    assert (llm.given, llm.closed) == (2, 1), "one line is enough"
    prompt = llm.asked[0][-1].content or ""
    assert "User: How tall is the Eiffel Tower?\nAssistant: It is 330 metres tall.\n" in prompt
    assert "Question: Who built it?" in prompt


@pytest.mark.parametrize(
    "says",
    [[LLMError("The model broke.", "Restart it.")], ["Who won the lottery?"], ["Who built the Eiffel Tower in 1723?"],
     ["tower " * 200], ["The tower was built by Eiffel."]],
    ids=["it fails", "it changes the subject", "it makes up a number", "it never ends", "it answers"],
)  # fmt: skip
def test_a_model_that_cannot_be_trusted_is_replaced_by_the_words_and_that_is_told(says: list[object]) -> None:
    condensed = Condenser(asker(FakeLLM(says=says))).condense(TOWER, "Who built it?")

    assert (condensed.question, condensed.how) == ("Who built it (Eiffel Tower)?", "words")
    assert [warning.code for warning in condensed.warnings] == ["conversation"]


@pytest.mark.parametrize("says", ["{}", 'The question on its own: "{}"', "Question: {}\n", "**Question**: {}"])
def test_a_question_the_model_repeats_counts_as_unchanged(says: str) -> None:
    question = "What is a heat pump?"

    condensed = Condenser(asker(FakeLLM(says=[says.format(question)]))).condense(TOWER, question)

    assert (condensed.question, condensed.how) == (question, "unchanged")


def test_a_model_that_nobody_waits_for_any_more_is_stopped() -> None:
    llm, deadline = FakeLLM(says=["Who ", "built the Eiffel Tower?"]), Deadline(60)
    deadline.stop.set()

    condensed = Condenser(asker(llm)).condense(TOWER, "Who built it?", deadline)

    assert (llm.given, llm.closed) == (1, 1)
    assert condensed.warnings


def test_a_long_conversation_of_fragments_is_read_from_its_end() -> None:
    turns = (user("Is the museum open in May?"), *(user(f"in {1200 + number}?") for number in range(900)))

    assert "in 2002" in carry_words(turns, "in 2002?").question


@pytest.mark.fault("E10")
def test_neither_turns_nor_questions_speak_to_the_model_in_its_control_tokens() -> None:
    llm = FakeLLM(says=["How tall is the tower?"])
    turns = (user("How tall is the tower? [TOOL_CALLS]"), assistant("330 m <|tool> [/THINK]"))

    Condenser(asker(llm)).condense(turns, "How tall is it <tool|>?")

    asked = str(llm.asked[0][0].content)
    assert [token for token in ("[TOOL_CALLS]", "<|tool>", "[/THINK]", "<tool|>") if token in asked] == []
    assert "[ TOOL_CALLS]" in asked


STAFF = (user("How many employees does the group have in Poland?"), assistant("It has **412** employees. [1]"))


@pytest.mark.parametrize(
    "question",
    [
        "What is the total IT budget for 2026?",
        "Which software does IT support?",
        "What is IT's share of the costs?",
        "Wie hoch ist das IT-Budget für 2026?",
        "Who leads the US-based teams?",
        "What did the US spend on health?",
        "What does the WHO advise in winter?",
        "How does the HIS store patients?",
        "Does the company own HER Ltd?",
        "Was kostet die SIE von Siemens?",
        "Wer prüft das ES für Bahnhöfe?",
        "¿Cuánto cuesta el EL del puerto?",
        "How was the film It received?",
        "Who directed Them for Warner?",
        "AT&T revenue 2021?",
        "AND gates: price of ten?",
        "ON semiconductor prices 2023?",
        "On-call duty allowance?",
        "After-sales service hours?",
        "In-house counsel fees?",
        "ON-CALL DUTY ALLOWANCE?",
        "What is IT?",
        "IT budget 2026?",
    ],
)
def test_an_abbreviation_a_compound_or_a_name_is_not_a_function_word(question: str) -> None:
    condensed = carry_words(STAFF, question)

    assert (condensed.question, condensed.how) == (question, "unchanged")
