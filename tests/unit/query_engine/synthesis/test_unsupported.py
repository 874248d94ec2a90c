"""What of an answer no source holds, exactly."""

import pytest

from query_engine.synthesis.unsupported import Held, unsupported

SOURCE = (
    "Since version 2.3.10 the server listens on port 8443. Set `MAX_OPEN_FILES` in /etc/app/server.conf, or start it "
    "with --max-open 4,096 --quiet. On 2024-03-05 the fee rose to 1,250.50 EUR; three people objected. "
    "Mail help@app.example or see https://app.example/docs/limits. The board said “we will not wait”. Use readTimeout."
)
HELD = Held([SOURCE, "What does 70431 cost?"])

TRUE = [
    "It listens on port 8443 since 2.3.10 [1].",
    "Set `MAX_OPEN_FILES` to 4096 [1].",
    "```\nserver --max-open 4096 --quiet\n```",
    "The fee is 1250.50 EUR, or 1.250,50 EUR in German notation.",
    "On 5 March 2024 the fee rose; 3 people objected.",
    "On 05.03.2024 it rose.",
    "1. Edit /etc/app/server.conf.\n2. Restart.\n3. Look.",
    "See https://app.example/docs/limits.",
    'The board said "we will not wait".',
    "Order 70431 is not priced.",
    "Set readTimeout.",
    "There are 2 ways [2].",
]
FALSE = [
    ("It listens on port 8434.", "8434"),
    ("Since 2.3.1 it does.", "2.3.1"),
    ("Set `MAX_OPEN_FILE`.", "MAX_OPEN_FILE"),
    ("Start it with --max-opened 4096.", "--max-opened"),
    ("Edit /etc/app/client.conf.", "/etc/app/client.conf"),
    ("It rose to 1,350.50 EUR.", "1,350.50"),
    ("On 6 March 2024 it rose.", "6"),
    ("Mail hello@app.example.", "hello@app.example"),
    ("See https://app.example/docs/prices.", "https://app.example/docs/prices"),
    ("The board said “we will wait”.", "“we will wait”"),
    ("Set writeTimeout.", "writeTimeout"),
]


@pytest.mark.parametrize("answer", TRUE)
def test_what_a_source_holds_is_not_marked_however_it_is_written(answer: str) -> None:
    assert unsupported(answer, HELD) == ()


@pytest.mark.promise("B15")
@pytest.mark.parametrize(("answer", "wrong"), FALSE)
def test_what_no_source_holds_is_marked_at_its_place(answer: str, wrong: str) -> None:
    (found,) = unsupported(answer, HELD)

    assert found.text == wrong == answer[found.start : found.end]
