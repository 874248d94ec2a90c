"""What a rule is, what breaks it, and the verdict on it.

Flow: replies -> a rule (`run_rules.py`, `evaluate_rules.py`) -> **here** -> the table of `command.py`. Pure.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Subject = TypeVar("Subject")
State = Literal["PASS", "FAIL", "NOT SEEN"]
SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class Offence:
    """How a rule was broken.

    Attributes:
        what: one sentence.
        record: the offending record or line as it came, shortened.
    """

    what: str
    record: str = ""


@dataclass(frozen=True, slots=True)
class Rule(Generic[Subject]):
    """One rule of the contract.

    Attributes:
        name: stable, e.g. `run/phases`.
        about: what is right, as one sentence.
        offences: yields what breaks the rule in one subject.
        applies: whether the subject shows anything that the rule is about.
    """

    name: str
    about: str
    offences: Callable[[Subject], Iterator[Offence]]
    applies: Callable[[Subject], bool]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one rule over everything that was asked.

    Attributes:
        state: `NOT SEEN`: no reply showed what the rule is about.
        offence: the first one.
        offenders: how many replies broke the rule, `of` how many it applied to.
    """

    rule: str
    about: str
    state: State
    offence: Offence | None
    offenders: int
    of: int


def judge(rules: Sequence[Rule[Subject]], subjects: Sequence[Subject]) -> list[Verdict]:
    """Return a verdict for each rule, in their order."""
    return [_verdict(rule, [subject for subject in subjects if rule.applies(subject)]) for rule in rules]


def _verdict(rule: Rule[Subject], subjects: Sequence[Subject]) -> Verdict:
    first = [next(rule.offences(subject), None) for subject in subjects]
    found = [offence for offence in first if offence is not None]
    state: State = "FAIL" if found else "PASS" if subjects else "NOT SEEN"
    return Verdict(rule.name, rule.about, state, found[0] if found else None, len(found), len(subjects))


def shortened(text: str | bytes) -> str:
    """Return a text for one line of a terminal: control characters written out, the middle left out."""
    whole = text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in whole[: 100 * SHOWN_CHARS])
    if len(plain) <= SHOWN_CHARS:
        return plain
    half = SHOWN_CHARS // 2
    return f"{plain[:half]} … {plain[-half:]}"
