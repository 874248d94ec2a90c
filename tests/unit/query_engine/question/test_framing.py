"""A request's polite frame is taken off, and what has none stays as it was typed."""

import pytest

from query_engine.question.framing import MAX_CHARS, without_frame


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("Can you tell me how deep the wells are?", "How deep are the wells?"),
        ("I would like to know what net metering is", "What net metering is?"),
        ("Could you tell me how many rooms there are?", "How many rooms are there?"),
        ("Do you know what time breakfast is?", "What time breakfast is?"),
        ("Hi, could you please tell me who the treasurer is?", "Who is the treasurer?"),
        ("Please explain to me what a capacity factor is.", "What is a capacity factor?"),
        ("I’d like to know when the first wind farm was built.", "When the first wind farm was built?"),
        ("Explain how pumped storage works", "How pumped storage works?"),
        ("I was wondering whether I can park my car there, thanks", "I can park my car there?"),
        ("Could you tell me the efficiency of a fuel cell please", "What is the efficiency of a fuel cell?"),
        ("Tell me about tides", "What are tides?"),
        ("can you explain solar cells and batteries", "What are solar cells and batteries?"),
        ("Tell me about the lens", "What is the lens?"),
        ("Tell me about the people who came to the meeting", "What are the people who came to the meeting?"),
        ("Explain the criteria for a grant", "What are the criteria for a grant?"),
        ("Explain economics", "What is economics?"),
        ("Describe the rules of the flat", "What are the rules of the flat?"),
        ("Give me a short definition of inertia", "What is inertia?"),
        ("Kannst du mir sagen, wie hoch die Miete ist?", "Wie hoch die Miete ist?"),
        ("Pouvez-vous me dire combien coûte le loyer ?", "Combien coûte le loyer?"),
        ("¿Sabes si los perros están permitidos?", "Los perros están permitidos?"),
        ("¿Puedes decirme cuánto cuesta el alquiler?", "Cuánto cuesta el alquiler?"),
    ],
)
def test_a_frame_is_taken_off(asked: str, plain: str) -> None:
    assert without_frame(asked) == plain


@pytest.mark.parametrize(
    "asked",
    [
        "What is a heat pump?",
        'What does "tell me" mean?',
        "What happens if I lose my key, please?",
        "Do you know Python?",
        "Tell me",
        "Tell me about it",
        "Tell me more about tides",
        "Explain photosynthesis to a child",
        "Explain it like I'm five",
        "Tell me about the lease and what the rent is",
        "Tell me about the mill. And what did it cost?",
        "Explain net metering in two sentences.",
        "List and describe three reasons why revolutions broke out in 1830",
        "Can you tell me what it costs? And who pays? " + "It matters. " * (MAX_CHARS // 10),
    ],
)
def test_what_has_no_frame_or_says_how_to_write_stays(asked: str) -> None:
    assert without_frame(asked) == asked
