"""What holds no words is cut out, ordinary text is not, and offsets stay true."""

import base64
import random

import pytest

from index.documents.blobs import without_blobs

RANDOM = random.Random(5)
BASE64 = base64.b64encode(RANDOM.randbytes(30_000)).decode()
BASE64_LINES = "\n".join(BASE64[start : start + 76] for start in range(0, 7600, 76))
HEX_LINES = "\n".join(f"{16 * row:08x}  {RANDOM.randbytes(16).hex(' ')}  |................|" for row in range(50))


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (f"Look: ![a dam](data:image/png;base64,{BASE64}) is 196 m high.", "Look: ![a dam]([image]) is 196 m high."),
        (f"Key {BASE64} ends.", "Key [data] ends."),
        (f"A letter:\n{BASE64_LINES}\nBye.", "A letter:\n[data]\nBye."),
        (f"A dump:\n{HEX_LINES}\nBye.", "A dump:\n[data]\nBye."),
        (f"Dots {'.' * 5000} end.", "Dots […] end."),
        (f"Lines\n{('.' * 79 + chr(10)) * 50}end.", "Lines\n[…]\nend."),
        (f"Code\n{'a(b,c){return d};' * 1000}\nend.", "Code\n[data]\nend."),
    ],
)
def test_what_holds_no_words_is_cut_out(text: str, rest: str) -> None:
    found = without_blobs(text)

    assert found.text == rest
    assert not found.blank


@pytest.mark.parametrize(
    "text",
    [
        "汉字没有空格的文本，" * 2000,
        "ข้อความภาษาไทย" * 500,
        "Ordinary prose, in one line. " * 2000,
        "\n".join(" ".join(f"{RANDOM.randrange(100):02}" for _ in range(16)) for _ in range(99)),
        "Chapter 1 " + "." * 120 + " 7",
        f"|{'---|' * 60}",
        f"https://example.org/{'path/' * 60}?q=1",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert without_blobs(text, [0, 5])[:4] == (text, (0, 5), "", False)


def test_offsets_stand_at_the_same_words_afterwards() -> None:
    text = f"One {BASE64} two {BASE64} three"
    places = [0, text.index(" two") + 1, text.index("three")]

    found = without_blobs(text, places)

    assert [found.text[place:][:3] for place in found.offsets] == ["One", "two", "thr"]
    assert without_blobs(text, [100]).offsets == (4,)


def test_what_was_left_out_is_told_with_its_length() -> None:
    found = without_blobs(f"![a](data:image/png;base64,{BASE64}) and {'.' * 2000}")

    assert found.left_out == "Left out: 1 embedded image (40,022 characters), 1 run of marks (2,000 characters)."


def test_a_text_of_nothing_else_is_blank() -> None:
    assert without_blobs("." * 5000).blank
    assert not without_blobs("." * 5000 + " word").blank


@pytest.mark.parametrize(
    "unit",
    [
        "A" * 39 + "\n",
        ("A" * 50 + "\n") * 7 + "x\n",
        "a" * 499 + " ",
        "." * 999 + "a",
        "ab cd ef 01 23 45 67\n",
        "ab ",
        "a" * 499 + ".",
    ],
)
def test_worst_cases_take_linear_time(unit: str) -> None:
    # Quadratic patterns would take hours for this; the suite's own limit ends them.
    without_blobs(unit * (2_000_000 // len(unit)))
