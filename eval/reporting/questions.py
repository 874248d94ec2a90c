"""Prepare one question for the page: its answer cut at the marks, its quotes, and the passages with what is quoted.

Flow: case + row -> **here** -> `templates/question.html`. Pure.

A page that opens at once matters more than its completeness: long texts are cut, and say by how much. The run's own
files hold them whole.
"""

from dataclasses import dataclass

from eval.cases import Case
from eval.reporting.failures import Verdict
from eval.reporting.gather import Gathered
from eval.reporting.safe_text import Piece, answer_pieces, passage_pieces, plain, shorten
from eval.rows import Quote, Row, Seen

PAGE_CHARS = 1_600_000
MOST_CHARS, LEAST_CHARS = 12_000, 600
MOST_QUESTIONS, MOST_QUOTES, MOST_REFERENCES = 1_000, 50, 10


@dataclass(frozen=True, slots=True)
class Text:
    """A text in pieces.

    Attributes:
        left_out: characters that are not shown.
    """

    pieces: list[Piece]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """One question as the page shows it.

    Attributes:
        place: 1-based, in the order of the run; makes the anchors, as ids may be anything.
        quotes: each with its text; the first of each number is where marks lead to.
        passages: as many as there is room for, each with its text.
    """

    place: int
    case: Case
    row: Row | None
    verdict: Verdict
    question: Text
    references: list[Text]
    answer: Text
    quotes: list[tuple[Quote, Text]]
    passages: list[tuple[Seen, Text]]


def shown_questions(run: Gathered) -> list[Shown]:
    """Prepare the questions in their order; of very many, those that went wrong first, and at most `MOST_QUESTIONS`."""
    placed = list(enumerate(run.cases, start=1))
    if len(placed) > MOST_QUESTIONS:
        placed = sorted(placed, key=lambda pair: run.verdicts[pair[1].id].kind.state != "bad")[:MOST_QUESTIONS]
        placed.sort(key=lambda pair: pair[0])
    room = max(LEAST_CHARS, min(MOST_CHARS, PAGE_CHARS // len(placed)))
    return [_shown(place, case, run.rows.get(case.id), run.verdicts[case.id], room) for place, case in placed]


def _shown(place: int, case: Case, row: Row | None, verdict: Verdict, room: int) -> Shown:
    quotes = row.citations[:MOST_QUOTES] if row else ()
    answer, left_out = shorten(row.answer or "" if row else "", room // 2)
    passages, spent = [], len(answer) + sum(min(len(quote.quote or ""), room // 4) for quote in quotes)
    for passage in row.passages if row else ():
        if spent >= room:
            break
        passages.append((passage, _passage(passage, quotes, room - spent)))
        spent += len(passage.text)
    references = [text for text in (case.answer, *case.alternatives) if text][:MOST_REFERENCES]
    return Shown(
        place=place,
        case=case,
        row=row,
        verdict=verdict,
        question=_text(case.question, room // 4),
        references=[_text(text, room // 4) for text in references],
        answer=Text(answer_pieces(answer, {quote.number for quote in quotes}), left_out),
        quotes=[(quote, _text(quote.quote or "", room // 4)) for quote in quotes],
        passages=passages,
    )


def _text(text: str, limit_chars: int) -> Text:
    shown, left_out = shorten(text, limit_chars)
    return Text([Piece(plain(shown))], left_out)


def _passage(passage: Seen, quotes: tuple[Quote, ...], limit_chars: int) -> Text:
    shown, left_out = shorten(passage.text, limit_chars)
    start = passage.start
    spans = [
        (quote.start - start, quote.end - start)
        for quote in quotes
        if start is not None and quote.doc_id == passage.doc_id and quote.start is not None and quote.end is not None
    ]
    return Text(passage_pieces(shown, spans), left_out)
