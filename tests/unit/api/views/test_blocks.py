import pytest

from api.views.blocks import BLOCK_CHARS, MAX_BLOCK_CHARS, Block, blocks_of

PARAGRAPHS = "\n\n".join(f"Paragraph {n} says nothing in particular." for n in range(2000))


def test_a_short_text_is_one_block_and_an_empty_one_none() -> None:
    assert blocks_of("Wind turns blades.", (0, 4)) == [Block(0, 18, (0, 4))]
    assert blocks_of("", None) == []


def test_blocks_end_between_paragraphs_and_leave_nothing_out() -> None:
    blocks = blocks_of(PARAGRAPHS, None)

    assert len(blocks) > 4
    assert "".join(PARAGRAPHS[block.start : block.end] for block in blocks) == PARAGRAPHS
    assert all(PARAGRAPHS[block.start :].startswith("Paragraph") for block in blocks)
    assert all(block.end - block.start < BLOCK_CHARS + 100 for block in blocks)


@pytest.mark.parametrize("start", [0, 15_990, 16_010, 40_000])
def test_the_cited_span_lies_in_one_block(start: int) -> None:
    cited = (start, start + 30_000)

    [holder] = [block for block in blocks_of(PARAGRAPHS, cited) if block.cited]

    assert holder.cited == cited
    assert holder.start <= cited[0]
    assert cited[1] <= holder.end


def test_fenced_code_is_not_cut() -> None:
    code = "```\n" + "x = 1\n\n" * 4000 + "```\n\n"
    text = f"Before.\n\n{code}{PARAGRAPHS}"

    first = blocks_of(text, None)[0]

    assert text[first.start : first.end].count("```") == 2


@pytest.mark.parametrize("text", ["a" * 200_000, "| cell |\n" * 20_000, "```\n\n" + "a\n\n" * 60_000])
def test_a_text_without_an_end_of_a_paragraph_is_cut_all_the_same(text: str) -> None:
    blocks = blocks_of(text, None)

    assert max(block.end - block.start for block in blocks) <= MAX_BLOCK_CHARS
    assert blocks[-1].end == len(text)
