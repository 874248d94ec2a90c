"""Letters that only look different mean the plain ones to search, reader and embedding."""

import pytest

from index.embedding.model import load_embedding_model
from index.lexical.tantivy_index import LexicalIndex
from index.plain_letters import plain_letters
from query_engine.reader.model import PassageText, shipped_reader
from query_engine.text.content_words import content_stems, numbers

PAIRS = [
    ("The oﬃce staﬀ ﬂew to the ﬁrst ﬁeld.", "The office staff flew to the first field."),
    ("Ｔｙｐｅ　ＸＹ－９８７", "Type XY-987"),
    ("ﾎﾟﾝﾌﾟ と ｶﾞｽ", "ポンプ と ガス"),
    ("𝑣 = 𝟑 𝐦", "v = 3 m"),
    ("Chapter Ⅳ", "Chapter IV"),
    ("SO₂ over 40 km² at 3 m·s⁻¹", "SO2 over 40 km2 at 3 m·s-1"),
    ("6 × 10²³ and 10⁻⁹", "6 × 10^23 and 10^-9"),
    ("the quarry⁷ closed", "the quarry^7 closed"),
    ("Größe façade 50 % – “as is”", "Größe façade 50 % – “as is”"),
]


@pytest.mark.fault("D19")
@pytest.mark.parametrize(("written", "plain"), PAIRS)
def test_letters_are_plain_and_what_a_beginning_becomes_begins_the_whole(written: str, plain: str) -> None:
    assert plain_letters(written) == plain_letters(plain) == plain
    beginnings = (plain_letters(written[:end]) for end in range(len(written)) if written[end] not in "ﾞﾟ⁻⁹⁷²")
    assert all(plain.startswith(beginning) for beginning in beginnings)


@pytest.mark.fault("D19")
@pytest.mark.parametrize(("written", "plain"), PAIRS)
def test_the_word_index_and_the_words_of_a_claim_are_those_of_plain_letters(written: str, plain: str) -> None:
    assert LexicalIndex(None).terms(written) == LexicalIndex(None).terms(plain)
    assert content_stems(written) == content_stems(plain)


@pytest.mark.fault("D19")
@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("10^8", "A yield of 10⁸ cells."),
        ("10⁸", "A yield of 10^8 cells."),
        ("km2", "An area of 9 km²."),
        ("km^2", "An area of 9 km²."),
        ("NH3", "NH₃ escapes."),
        ("quarry", "the quarry⁷ closed"),
        ("film XY-987", "Der ﬁlm: ＸＹ－９８７"),
    ],
)
def test_a_search_finds_what_is_written_in_other_letters(asked: str, text: str) -> None:
    index = LexicalIndex(None)
    index.add([("n1", "v", text, ""), ("n2", "v", "108 others", "")])

    assert index.holding(asked) == ["n1"]


def test_a_power_is_another_number_than_its_digits() -> None:
    assert numbers("10⁸") == numbers("10^8") != numbers("108")


@pytest.mark.fault("D19")
def test_the_reader_scores_units_where_they_stand() -> None:
    def scores(one: str, two: str) -> tuple[float, ...]:
        text = f"{one} {two}"
        units = ((0, len(one)), (len(one) + 1, len(text)))
        return shipped_reader().read("How eﬃcient is the ﬁlter?", [PassageText("Air", text, units)])[0].units

    written = scores("The ﬂow oﬀ the ﬁeld is slow.", "The ﬁlter has an eﬃciency of 87 percent.")

    assert written == pytest.approx(
        scores("The flow off the field is slow.", "The filter has an efficiency of 87 percent."), abs=0.01
    )


def test_the_embedding_model_is_given_plain_letters() -> None:
    model = load_embedding_model("minilm")

    assert [one.ids for one in model.encode([written for written, _ in PAIRS])] == [
        one.ids for one in model.encode([plain for _, plain in PAIRS])
    ]
