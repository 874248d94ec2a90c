"""Decide what of a model's answer is shown: each sentence as it is, as the quote that supports it, or not at all.

Flow: `citation_marks.py` hands over finished sentences -> `grounding.py` judges -> **here** -> text with `[n]`,
numbered by `schema/citations.py`. A sentence is shown once all is settled about it, so nothing that was streamed is
withdrawn and numbers rise through the text. Headings, and phrases that claim nothing, wait for the next sentence.
How a sentence begins is known before it has ended, unless it is left out or replaced: that far it may be shown as
unchecked text, and without checks as text that stands.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.citation_marks import MarkedSentence
from query_engine.synthesis.claims import content_stems
from query_engine.synthesis.grounding import Evidence, Quote
from query_engine.text.markdown_escape import as_quote, as_text
from query_engine.text.words import first_words

UNSUPPORTED = "llm_unsupported"
"""Code of the failure that nothing of an answer has support."""

# Shorter sentences may be repeated.
LEAST_REPEATED_WORDS = 4
# Where a sentence may end, and with it the part of it that is sure to be shown as it stands.
_MAY_END = re.compile(r"(?<![.!?])[.!?]++[\"'”’)\]]*+(?=\s)|\n")
_LAST_WORD = re.compile(r"(?<!\S)\S++\Z")
_CUT = "…"
# `split_sentences` cuts longer ones, wherever they stand.
_LONGEST_BEGUN_CHARS = 400


@dataclass(frozen=True, slots=True)
class Rules:
    """What is shown of a model's answer.

    Attributes:
        checked: sentences without support in the passages are replaced or left out.
        max_words: of an answer, its marks counted. It ends before the sentence that would make it longer; a first
            sentence that is longer is cut. None sets no limit.
    """

    checked: bool = True
    max_words: int | None = None


class Draft:
    """One answer while it grows.

    Args:
        passages: rank r is `passages[r - 1]`.
        evidence: of the same passages.
        citations: of the answer.
        rules: what is shown.

    Attributes:
        words: shown so far.
        ended: nothing more is shown: the answer is long enough, or a sentence was said before, since small models fall
            into loops.
    """

    def __init__(self, passages: Sequence[Passage], evidence: Evidence, citations: Citations, rules: Rules) -> None:
        self._passages = passages
        self._evidence = evidence
        self._citations = citations
        self._rules = rules
        self._lead = ""
        self._bereft = False
        self._said: set[str] = set()
        self._quoted: set[Quote] = set()
        self._passed = ""
        self.words = 0
        self.ended = False

    def unchecked(self, begun: MarkedSentence | None) -> str:
        """Return what the sentence that has begun will be shown as, as far as it goes, if it turns out supported.

        Args:
            begun: its marks are not shown before they are settled, nor is what follows them.
        """
        too_long = self._rules.max_words and self.words
        if begun is None or begun.heading or self.ended or too_long:
            return ""
        lead = self._led(begun.lead)
        text = first_words(begun.text, self._room(lead))[:_LONGEST_BEGUN_CHARS]
        limits = [at for at, _ in begun.marks if 0 < at <= len(text)]
        if end := _MAY_END.search(text):
            limits.append(end.start())
        # Without a limit the last word may go on.
        text = (text[: min(limits)] if limits else _LAST_WORD.sub("", text)).rstrip()
        if not content_stems(text) or self._may_repeat(text):
            return ""
        return (lead if self.words else lead.lstrip()) + as_text(text)

    def passed(self, begun: MarkedSentence | None) -> str:
        """Return what can be shown now of the sentence that has begun; empty where sentences are checked."""
        beginning = "" if self._rules.checked else self.unchecked(begun)
        piece = beginning[len(self._passed) :]
        self._passed += piece
        return piece

    def add(self, sentence: MarkedSentence) -> str:
        """Return what is shown for the next sentence, with the space before it; empty if it is not shown.

        What of it was `passed` already is left out.
        """
        passed, self._passed = self._passed, ""
        return self._added(sentence).removeprefix(passed)

    def _added(self, sentence: MarkedSentence) -> str:
        said = " ".join(sentence.text.split())
        words = len(said.split())
        room = self._room(self._led(sentence.lead))
        too_long = self.words > 0 and room is not None and words > room
        self.ended = self.ended or too_long or (said in self._said and words >= LEAST_REPEATED_WORDS)
        if self.ended:
            return ""
        self._said.add(said)
        if sentence.heading and self._bereft:
            # The heading before this one has lost its text.
            self._lead, self._bereft = self._lead[: len(self._lead) - len(self._lead.lstrip())], False
        lead = self._led(sentence.lead)
        if sentence.heading or not content_stems(sentence.text):
            self._lead = lead + as_text(sentence.text)
            return ""
        shown = self._settled(_fitting(sentence, room), room)
        self._bereft = not shown
        if not shown:
            # What waited for this sentence waits for the next one, and so does a break between paragraphs.
            self._lead = self._lead or lead[: len(lead) - len(lead.lstrip())]
            return ""
        self._lead = ""
        shown = (lead if self.words else lead.lstrip()) + shown
        self.words += len(shown.split())
        return shown

    def _may_repeat(self, text: str) -> bool:
        begun = " ".join(text.split())
        return any(said.startswith(begun) for said in self._said)

    def _led(self, lead: str) -> str:
        """Return what stands before the next sentence, without headings that leave it too little room."""
        whole = _stronger(self._lead, lead)
        most = self._rules.max_words
        return whole if most is None or 2 * len(whole.split()) <= most else lead

    def _room(self, lead: str) -> int | None:
        """Words that the next sentence may have beside one mark; None sets no limit."""
        most = self._rules.max_words
        return None if most is None else max(0, most - self.words - len(lead.split()) - 1)

    def _settled(self, sentence: MarkedSentence, room: int | None) -> str:
        ranks = dict.fromkeys(rank for _, rank in sentence.marks if 1 <= rank <= len(self._passages))
        verdict = self._evidence.check(sentence.text, list(ranks))
        checked = self._citations.checked
        if verdict.supported or not self._rules.checked:
            checked.supported += verdict.supported
            return self._marked(sentence, list(ranks), verdict.quotes)
        quotes = [quote for quote in verdict.quotes if quote not in self._quoted]
        if not quotes:
            checked.dropped += 1
            return ""
        quote, shown = quotes[0], first_words(quotes[0].text, room)
        if len(shown) < len(quote.text) and self.words:
            self.ended = True
            return ""
        checked.replaced += 1
        cut = _CUT if len(shown) < len(quote.text) else ""
        quote = replace(quote, end=quote.end - len(quote.text) + len(shown), text=shown)
        return f"{as_quote(' '.join(shown.split()))}{cut} {self._cite([quote])}"

    def _marked(self, sentence: MarkedSentence, ranks: Sequence[int], quotes: Sequence[Quote]) -> str:
        """The sentence with the marks that hold, where the model put them; with those of `quotes` if none does."""
        held = {rank: [quote for quote in quotes if quote.rank == rank] for rank in ranks}
        for rank in [rank for rank in ranks if not held[rank]]:
            held[rank] = self._evidence.alone(sentence.text, rank, least=self._rules.checked)
        places: dict[int, list[Quote]] = {}
        for at, rank in sentence.marks:
            places.setdefault(at, []).extend(held.get(rank, ()))
        if not any(places.values()):
            places = {sentence.marks[0][0] if sentence.marks else len(sentence.text): list(quotes)}
        shown, position = "", 0
        for at, cited in places.items():
            shown += as_text(sentence.text[position:at]) + (f" {self._cite(cited)}" if cited else "")
            position = at
        return shown + as_text(sentence.text[position:])

    def _cite(self, quotes: Iterable[Quote]) -> str:
        numbers = []
        for quote in quotes:
            self._quoted.add(quote)
            numbers.append(self._citations.cite(self._passages[quote.rank - 1], quote.start, quote.end))
        return "".join(f"[{number}]" for number in dict.fromkeys(numbers))


def _fitting(sentence: MarkedSentence, room: int | None) -> MarkedSentence:
    """Return the sentence, cut after `room` words, with all marks at its end if there is no room for several."""
    places = max(1, len({at for at, _ in sentence.marks}))
    if room is None or len(sentence.text.split()) + places <= room + 1:
        return sentence
    text = first_words(sentence.text, room)
    text += _CUT if len(text) < len(sentence.text) else ""
    return replace(sentence, text=text, marks=tuple((len(text), rank) for _, rank in sentence.marks))


def _stronger(waiting: str, lead: str) -> str:
    """Join what waits with the space before the next sentence: a heading stays, of two gaps the wider one counts."""
    if waiting.strip():
        return waiting + (lead or " ")
    return waiting if waiting.count("\n") > lead.count("\n") else lead
