"""What a rule is, what breaks it, and the verdict on it.

Flow: replies -> a rule (`run_rules.py`, `evaluate_rules.py`) -> **here** -> the table of `command.py`. Pure.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

Subject = TypeVar("Subject")
Offences = Callable[[Subject], Iterator["Offence"]]
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
class Verdict:
    """What became of one rule over everything that was asked.

    Attributes:
        rule: its stable name, e.g. `run/phases`.
        about: what is right, as one sentence.
        offence: the first one; None if the rule was kept.
        offenders: how many replies broke the rule, `of` how many it applied to.
    """

    rule: str
    about: str
    offence: Offence | None
    offenders: int
    of: int

    @property
    def state(self) -> str:
        """`PASS`, `FAIL`, or `NOT SEEN`: no reply showed what the rule is about."""
        return "FAIL" if self.offence else "PASS" if self.of else "NOT SEEN"


@dataclass(frozen=True, slots=True)
class Rule(Generic[Subject]):
    """One rule of the contract.

    Attributes:
        name, about: as in `Verdict`.
        offences: yields what breaks the rule in one subject.
        applies: whether the subject shows anything that the rule is about.
    """

    name: str
    about: str
    offences: Offences[Subject]
    applies: Callable[[Subject], object]

    def judge(self, subjects: Sequence[Subject]) -> Verdict:
        """Return the verdict over all subjects that the rule applies to."""
        first = [next(self.offences(subject), None) for subject in subjects if self.applies(subject)]
        found = [offence for offence in first if offence is not None]
        return Verdict(self.name, self.about, found[0] if found else None, len(found), len(first))


class Rules(list[Rule[Subject]]):
    """The rules of one kind of reply, in the order of the table."""

    def rule(
        self, name: str, about: str, applies: Callable[[Subject], object] = lambda _: True
    ) -> Callable[[Offences[Subject]], Offences[Subject]]:
        """Add the decorated function as a rule."""

        def add(offences: Offences[Subject]) -> Offences[Subject]:
            self.append(Rule(name, about, offences, applies))
            return offences

        return add

    def judge(self, subjects: Sequence[Subject]) -> list[Verdict]:
        """Return a verdict for each rule."""
        return [rule.judge(subjects) for rule in self]


def merged(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return one verdict for each rule over all that was judged apart, in the order in which the rules first come."""
    known: dict[str, Verdict] = {}
    for one in verdicts:
        before = known.get(one.rule, replace(one, offence=None, offenders=0, of=0))
        offenders, of = before.offenders + one.offenders, before.of + one.of
        known[one.rule] = replace(one, offence=before.offence or one.offence, offenders=offenders, of=of)
    return list(known.values())


def shortened(text: str | bytes) -> str:
    """Return a text for one line of a terminal: control characters written out, the middle left out."""
    whole = text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in whole[: 100 * SHOWN_CHARS])
    if len(plain) <= SHOWN_CHARS:
        return plain
    half = SHOWN_CHARS // 2
    return f"{plain[:half]} … {plain[-half:]}"
