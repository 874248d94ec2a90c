"""Turn a topic into sub-questions by templates, and reword them.

Flow: topic -> `subject.py` -> **here** -> `survey.py` asks them. Pure. The templates of a thing are grammatical
with any noun, those of a question quote it whole.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from query_engine.question.decompose_rules import split_question
from research.topic.subject import Subject, Thing

MOST = 8
# A longer question is not repeated inside others.
_QUOTED_CHARS = 200

# Templates with what documents say where they have an answer; without a cue they are asked anyway.
_WHAT = ("What {be} {x}?", "")
_WORK = ("How {do} {x} work?", r"\b(?:works?|working|operat\w+|functions?|principles?|steps?|process|mechanism)\b")
_PRO = ("What are the main advantages of {x}?", r"\b(?:advantages?|benefits?|strengths?|better|saves?|improves?)\b")
_CON = (
    "What are the main disadvantages of {x}?",
    r"\b(?:disadvantages?|drawbacks?|weakness\w*|problems?|risks?|worse|difficult\w*|danger\w*)\b",
)
_COSTS = ("What {do} {x} cost?", r"\b(?:costs?|prices?|expens\w+|cheap\w*|dollars?|euros?|pounds?|fees?)\b|[$€£]")
_USE = ("What {be} {x} used for?", r"\b(?:uses?|used|using|applications?|purpose|serves?)\b")
_HISTORY = (
    "What is the history of {x}?",
    r"\b(?:history|invent\w+|founded|born|began|first|century|1[5-9]\d\d|20[0-2]\d)\b",
)
_LIMITS = ("What limits {x}?", r"\b(?:limit\w*|at most|maximum|constrain\w+|depends?)\b")
_THING = (_WHAT, _WORK, _PRO, _CON, _COSTS, _USE, _HISTORY, _LIMITS)
_NAME = (
    ("Who or what {be} {x}?", ""),
    ("What {be} {x} known for?", ""),
    _HISTORY,
    _WORK,
    _USE,
    ("What is the role of {x}?", ""),
    ("What is special about {x}?", ""),
    _LIMITS,
    _PRO,
    _CON,
    _COSTS,
)
_ACTIVITY = (
    ("What does {x} involve?", ""),
    ("How does {x} work?", _WORK[1]),
    _PRO,
    ("What makes {x} difficult?", _CON[1]),
    ("What does {x} cost?", _COSTS[1]),
    ("What are the steps of {x}?", r"\b(?:steps?|first|then|finally)\b"),
    _HISTORY,
    _LIMITS,
)
_WAY = (
    "How can you {x}?",
    "Which steps does it take to {x}?",
    "What do you need to {x}?",
    "How much does it cost to {x}?",
    "What makes it difficult to {x}?",
    "Why is it worth while to {x}?",
    "How long does it take to {x}?",
    "Who can {x}?",
)
_EACH = (_PRO[0], _CON[0], _COSTS[0], _WHAT[0])
_COST = re.compile(r"cheap|expens|cost|dear|afford")
_ON_QUESTION = (
    "Which facts bear on the question “{x}”?",
    "Which reasons are given on the question “{x}”?",
    "Which limits or exceptions bear on the question “{x}”?",
)

_REWORDED = tuple(
    (re.compile(pattern, re.IGNORECASE), wording)
    for pattern, wording in (
        (r"^(?:who or )?what (is|are|was|were) (.+) (used|known) for$", r"Describe what \2 \1 \3 for."),
        (r"^what are the main advantages of (.+)$", r"Describe the benefits of \1."),
        (r"^what are the main disadvantages of (.+)$", r"Describe the drawbacks of \1."),
        (r"^what is (special|disputed) about (.+)$", r"Describe what is \1 about \2."),
        (r"^what (?:is|are|was|were) (the .+ of .+)$", r"Describe \1."),
        # A word such as "describe" is one more that no document about a name holds.
        (r"^(?:who or what|what|who) (?:is|are|was|were) (.+)$", r"About \1"),
        (r"^how (?:do|does) (.+) and (.+) differ$", r"Compare \1 with \2."),
        (r"^how (?:do|does|is|are) (.+) (?:compare|differ|different) (?:with|to|from) (.+)$", r"Compare \1 with \2."),
        (r"^how (?:do|does) (.+) work$", r"Explain the working of \1."),
        (r"^how can you (.+)$", r"Explain how to \1."),
        (r"^(?:how much|what) does it cost to (.+)$", r"State the cost to \1."),
        (r"^(?:how much|what) (?:do|does|did) (.+) cost$", r"State the cost of \1."),
        (r"^how long does it take to (.+)$", r"State the time it takes to \1."),
        (r"^which steps does it take to (.+)$", r"List the steps to \1."),
        (r"^what do you need to (.+)$", r"List what is needed to \1."),
        (r"^why is it worth while to (.+)$", r"Give reasons to \1."),
        (r"^what limits (.+)$", r"Name the limits of \1."),
        (r"^what makes it difficult to (.+)$", r"Describe the difficulties of the attempt to \1."),
        (r"^what makes (.+) difficult$", r"Describe the difficulties of \1."),
        (r"^what does (.+) involve$", r"Describe the process of \1."),
        (r"^which (.+) (?:bear|are given) on the question (.+)$", r"List \1 on the question \2."),
        (r"^(?:is|are|was|were) (.+?) ((?:more |less )?\w+) than (.+)$", r"Compare \1 with \3: \2."),
        (r"^(?:when|where|why|how) (?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should) (.+)$",
         r"Explain: \1."),
        (r"^(?:when|where|why|how|who|what|which|whom|whose) (.+)$", r"Describe: \1."),
        (r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must) (.+)$",
         r"State whether: \1."),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subquestion:
    """One thing to ask.

    Attributes:
        about: the name of what it asks about, without an article; empty where no template made it.
    """

    text: str
    about: str = ""


def make_subquestions(subject: Subject, count: int, texts: Sequence[str] = ()) -> list[Subquestion]:
    """Return up to `count` different sub-questions, the most important first.

    Args:
        subject: of the topic.
        count: 1 to 8.
        texts: what documents say about it; what none of them speaks of is asked last.
    """
    asked = [] if subject.question is None else [Subquestion(subject.question)]
    if subject.kind == "question":
        asked += map(Subquestion, _parts(subject.question or ""))
    different: dict[str, Subquestion] = {}
    for one in [*asked, *_by_templates(subject, texts)]:
        different.setdefault(one.text.casefold(), one)
    return list(different.values())[:count]


def reworded(question: str) -> str:
    """Return the question as an order: without its interrogative, behind a directive; for a second search."""
    plain = question.strip().rstrip("?!. ")
    for pattern, wording in _REWORDED:
        if pattern.match(plain):
            return pattern.sub(wording, plain)
    return f"Describe: {plain}."


def _by_templates(subject: Subject, texts: Sequence[str]) -> list[Subquestion]:
    match subject.kind:
        case "thing":
            [thing] = subject.things
            return _cued(_NAME if _is_name(thing) else _THING, thing, texts)
        case "activity":
            return _cued(_ACTIVITY, subject.things[0], texts)
        case "way":
            return [Subquestion(one.format(x=subject.things[0].name)) for one in _WAY]
        case "comparison":
            return _compared(subject)
        case "question":
            return _about_question(subject, texts)


def _about_question(subject: Subject, texts: Sequence[str]) -> list[Subquestion]:
    of_things = [_cued(_NAME if _is_name(thing) else _THING, thing, texts) for thing in subject.things]
    # One of each in turn: the first of a list is what is asked most.
    turns = [one for row in zip_longest(*of_things) for one in row if one]
    question = (subject.question or "").rstrip("?")
    if turns or len(question) > _QUOTED_CHARS:
        return turns
    return [Subquestion(one.format(x=question)) for one in _ON_QUESTION]


def _compared(subject: Subject) -> list[Subquestion]:
    first, second = subject.things
    whole = [] if subject.question else [Subquestion(f"How do {first.name} and {second.name} differ?")]
    # What is asked about comes before what may be asked as well.
    templates = sorted(_EACH, key=lambda one: not ("cost" in one and _COST.search(subject.criterion)))
    return [*whole, *(_filled(each, thing) for each in templates for thing in subject.things)]


def _cued(templates: Sequence[tuple[str, str]], thing: Thing, texts: Sequence[str]) -> list[Subquestion]:
    """Fill the templates; those that the documents' paragraphs on the thing have no word for come last.

    Those that its name answers are left out: nobody asks what the cost of hydrogen costs.
    """
    # "heat pumps" is written about as "a heat pump" too.
    name = re.compile(re.escape(_bare(thing).removesuffix("s")), re.I)
    about = [part for text in texts for part in text.split("\n\n") if name.search(part)]

    def is_late(cue: str) -> bool:
        return bool(cue and about) and not any(re.search(cue, part, re.I) for part in about)

    fitting = [one for one in templates if not one[1] or not re.search(one[1], thing.name, re.I)]
    ordered = sorted(fitting, key=lambda one: is_late(one[1]))
    return [_filled(wording, thing) for wording, _ in ordered]


def _filled(template: str, thing: Thing) -> Subquestion:
    return Subquestion(template.format(x=thing.name, be=thing.be, do=thing.do), _bare(thing))


def _bare(thing: Thing) -> str:
    return re.sub(r"^(?:an?|the) ", "", thing.name, flags=re.IGNORECASE)


def _is_name(thing: Thing) -> bool:
    words = [word for word in thing.name.split() if word not in {"the", "of", "and", "de", "von", "van", "la"}]
    return all(word[:1].isupper() and not word.isupper() for word in words) or (
        len(words) > 1 and all(word[:1].isupper() for word in words)
    )


def _parts(question: str) -> list[str]:
    parts = [part.query for part in split_question(question) if part.alone]
    return [f"{part[:1].upper()}{part[1:].rstrip('?')}?" for part in parts]
