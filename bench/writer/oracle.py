"""A language model that knows the right answers, and says only what its prompt holds.

Flow: prompts of our service or of the stock recipe -> **here** -> replies, which `command.py` sends and `scoring.py`
compares with what is shown. Pure.

It recognises the question in the last message, and looks for the phrasings of its vital facts in the numbered sources.
If at least half of these facts are there, it replies with the reference answer and cites the sources that hold them;
otherwise, and for a near miss, it says that it does not know. A prompt without sources (planning, condensing) gets its
question back. What is measured with it is an upper bound: no real model reads as well. In the shape `planted` one
figure, version or option of the reference answer is changed; where it has none, the model does not know.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

from bench.quality.helpful.nuggets import NuggetCase
from eval.nuggets import HELPFUL_RECALL, fold

Shape = Literal["plain", "markdown", "planted"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
DECLINED = "I don't know. The sources are about something else."
# What models write beside plain sentences, with text in code that looks like markup, a link or a citation.
MARKDOWN = """**Answer.** {answer} {marks}

| Option | Value |
|---|---|
| `--name` | `<value>` |

```sh
run --name <value> --from https://host.example/a[0]
```"""
# `<DOC rank=3>`, `<source id="3">`, `[3] Title`, `【3】`, `## Document 3`, `Source 3:`
HEADER = re.compile(
    r"""^[ \t#*>]*(?:<\w+\s(?:rank|id|index|number|n)\s?=\s?["']?|[\[【]|(?:source|document|passage)\s)(\d{1,4})\b""",
    re.IGNORECASE | re.MULTILINE,
)

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
FIGURE = re.compile(r"(?<![\w.,-])\d[\d.,]*\d(?!\w)")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says to one prompt, and why.

    Attributes:
        case_id: of the question that was recognised; None if none was.
        cited: numbers of the sources that hold vital facts of it.
        found: how many of these facts they hold.
        vital: how many it has; 0 for a near miss, and for a prompt without sources.
        right: whether the reply is the reference answer.
        chars: of the prompt.
    """

    text: str
    case_id: str | None
    cited: tuple[int, ...]
    found: int
    vital: int
    right: bool
    chars: int


class Oracle:
    """The model; `cases` are the questions that it can answer."""

    def __init__(self, cases: Sequence[NuggetCase], shape: Shape = "plain") -> None:
        self._cases = [(fold(case.question), case) for case in cases]
        self._shape = shape

    def reply(self, messages: Sequence[Mapping[str, Any]]) -> Reply:
        """Reply to the messages of a chat request, in OpenAI's form."""
        texts = [_text(message["content"]) for message in messages]
        case = self._asked(fold(texts[-1]))
        given = sources(texts[-1]) or sources("\n".join(texts))
        vital = [nugget for nugget in case.nuggets if nugget.vital] if case and given else []
        holders = [
            number
            for nugget in vital
            for number in [n for n, text in given if any(fold(phrase) in text for phrase in nugget.any)][:1]
        ]
        cited, right = tuple(dict.fromkeys(holders)), bool(vital) and len(holders) >= HELPFUL_RECALL * len(vital)
        said, answer = DECLINED, (case.answer or "").strip() if case else ""
        if self._shape == "planted":
            right, answer = right and planted(answer) != answer, planted(answer)
        if case and right:
            said = self._written(answer, cited)
        elif case and not given:
            said = case.question
        return Reply(said, case.id if case else None, cited, len(holders), len(vital), right, sum(map(len, texts)))

    def _asked(self, text: str) -> NuggetCase | None:
        """Return the question that stands last in a folded text; of two that end it alike, the longer one."""
        there = [
            (text.rfind(question) + len(question), len(question), case)
            for question, case in self._cases
            if question in text
        ]
        return max(there, key=lambda place: place[:2])[-1] if there else None

    def _written(self, answer: str, cited: Sequence[int]) -> str:
        if self._shape == "markdown":
            return MARKDOWN.format(answer=answer, marks="".join(f"【{number}】" for number in cited))
        return f"{answer} {''.join(f'[{number}]' for number in cited)}"


def planted(answer: str) -> str:
    """Return an answer with the last option, or else the last figure or version, changed."""
    places = list(OPTION.finditer(answer)) or list(FIGURE.finditer(answer))
    if not places:
        return answer
    place = places[-1]
    wrong = f"{place[0]}-all" if place[0].startswith("-") else place[0][:-1] + str((int(place[0][-1]) + 3) % 10)
    return answer[: place.start()] + wrong + answer[place.end() :]


def sources(prompt: str) -> list[tuple[int, str]]:
    """Return the number and the folded text of each source in a prompt.

    Headers count up by one; any other number at the start of a line is the source's own text, as a footnote is.
    """
    starts: list[tuple[int, int]] = []
    for mark in HEADER.finditer(prompt):
        if not starts or int(mark[1]) == starts[-1][0] + 1:
            starts.append((int(mark[1]), mark.end()))
    return [(number, fold(prompt[at:end])) for (number, at), (_, end) in pairwise([*starts, (0, len(prompt))])]


def _text(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())
