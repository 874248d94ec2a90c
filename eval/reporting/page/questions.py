"""Prepare one question for the page: its answer cut at the marks, its quotes, and the passages with what is quoted.

Flow: case + row -> **here** -> `templates/question.html`. Pure.

A page that opens at once matters more than its completeness: long texts are cut, and say by how much. The run's own
files hold them whole.
"""

from dataclasses import dataclass, replace

from eval.cases import Case
from eval.reporting.failures import Verdict
from eval.reporting.gather import Gathered
from eval.reporting.page.safe_text import Piece, answer_pieces, passage_pieces, plain, shorten, web_link
from eval.rows import Quote, Row, Seen

PAGE_CHARS = 1_600_000
MOST_CHARS, LEAST_CHARS = 12_000, 600
MOST_QUESTIONS = 1_000
MOST_QUOTES = 50


@dataclass(frozen=True, slots=True)
class Text:
    """A text in pieces.

    Attributes:
        left_out: characters that are not shown.
    """

    pieces: list[Piece]
    left_out: int = 0

    def first(self, limit_chars: int) -> "Text":
        """Return the pieces of the beginning, the last one cut."""
        found, room = list[Piece](), limit_chars
        for piece in self.pieces:
            found.append(replace(piece, text=piece.text[:room]))
            room -= len(piece.text)
            if room <= 0:
                break
        hidden = sum(len(piece.text) for piece in self.pieces) - sum(len(piece.text) for piece in found)
        return Text(found, self.left_out + hidden)


@dataclass(frozen=True, slots=True)
class Source:
    """A quote or a passage.

    Attributes:
        title: of its document.
        where: document, place and pages, as far as the service tells them.
        link: a web page, or None.
        first: whether it is the first of its number: marks lead there.
    """

    number: int
    title: str
    where: str
    text: Text
    link: str | None = None
    first: bool = True


@dataclass(frozen=True, slots=True)
class Shown:
    """One question as the page shows it.

    Attributes:
        place: 1-based, in the order of the run; makes the anchors, as ids may be anything.
        passages_left: passages that are not shown.
    """

    place: int
    case: Case
    row: Row | None
    verdict: Verdict
    question: Text
    references: list[Text]
    answer: Text
    quotes: list[Source]
    passages: list[Source]
    passages_left: int


def shown_questions(run: Gathered) -> list[Shown]:
    """Prepare the questions in their order; of very many, those that went wrong first, and at most `MOST_QUESTIONS`."""
    placed = list(enumerate(run.cases, start=1))
    if len(placed) > MOST_QUESTIONS:
        placed = sorted(placed, key=lambda pair: run.verdicts[pair[1].id].kind.state != "bad")[:MOST_QUESTIONS]
        placed.sort(key=lambda pair: pair[0])
    room = max(LEAST_CHARS, min(MOST_CHARS, PAGE_CHARS // len(placed)))
    return [_shown(place, case, run.rows.get(case.id), run.verdicts[case.id], room) for place, case in placed]


def _shown(place: int, case: Case, row: Row | None, verdict: Verdict, room: int) -> Shown:
    quotes = row.citations if row else ()
    numbers = {quote.number for quote in quotes[:MOST_QUOTES]}
    answer, left_out = shorten(row.answer or "", room // 2) if row else ("", 0)
    passages, spent = list[Source](), len(answer) + sum(min(len(quote.quote or ""), room // 4) for quote in quotes)
    for number, passage in enumerate(row.passages if row else (), start=1):
        if spent >= room:
            break
        passages.append(_passage(number, passage, quotes, room - spent))
        spent += len(passage.text)
    references = [text for text in (case.answer, *case.alternatives) if text]
    return Shown(
        place=place,
        case=case,
        row=row,
        verdict=verdict,
        question=_text(case.question, room // 4),
        references=[_text(text, room // 4) for text in references[:10]],
        answer=Text(answer_pieces(answer, numbers), left_out),
        quotes=[
            _quote(quote, room // 4, first=all(earlier.number != quote.number for earlier in quotes[:index]))
            for index, quote in enumerate(quotes[:MOST_QUOTES])
        ],
        passages=passages,
        passages_left=len(row.passages) - len(passages) if row else 0,
    )


def _text(text: str, limit_chars: int) -> Text:
    shown, left_out = shorten(text, limit_chars)
    return Text([Piece(plain(shown))], left_out)


def _quote(quote: Quote, limit_chars: int, *, first: bool) -> Source:
    where = _where(quote.doc_id, quote.start, quote.end)
    title = plain(quote.title or quote.doc_id or "a document without a name")
    return Source(quote.number, title, where, _text(quote.quote or "", limit_chars), web_link(quote.url), first)


def _passage(number: int, passage: Seen, quotes: tuple[Quote, ...], limit_chars: int) -> Source:
    shown, left_out = shorten(passage.text, limit_chars)
    start = passage.start
    spans = [
        (quote.start - start, quote.end - start)
        for quote in quotes
        if start is not None and quote.doc_id == passage.doc_id and quote.start is not None and quote.end is not None
    ]
    pages = f"page {', '.join(str(page + 1) for page in passage.pages)}" if passage.pages else ""
    score = f"score {passage.score:.3g}" if passage.score is not None else ""
    where = " · ".join(part for part in (_span(passage.start, passage.end), pages, score) if part)
    title = plain(passage.doc_id or "a document without a name")
    return Source(number, title, where, Text(passage_pieces(shown, spans), left_out))


def _where(doc_id: str | None, start: int | None, end: int | None) -> str:
    return " · ".join(part for part in (plain(doc_id or ""), _span(start, end)) if part)


def _span(start: int | None, end: int | None) -> str:
    return "" if start is None or end is None else f"characters {start:,} to {end:,}"
