"""Line up the runs of the same questions, oldest first.

Flow: a folder of runs -> **here** -> the chart and the table of the page. Runs of other questions are not part of this
history: the hash of the questions decides, not their names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from errors import RagError
from eval.cells import Mean
from eval.reporting.number_format import flat
from eval.run_folder import HEADER, Header, RunFolder, cells_of, judges_of
from eval.summary import summarise

MOST = 30


@dataclass(frozen=True, slots=True)
class Past:
    """One run of the history.

    Attributes:
        name: of its folder.
        header: what it is of.
        fingerprint: of what was asked; the header's, or that of the first reply.
        means: by metric: of the answerable questions, where there are any of them, else of the others.
        this: whether it is the run that the report is about.
        judges: the judging models by family.
    """

    name: str
    header: Header
    fingerprint: str
    means: Mapping[str, Mean]
    this: bool
    judges: Mapping[str, str] = field(default_factory=dict)

    def made_of(self) -> dict[str, str]:
        """Return all that a later run may differ in, by name."""
        header = self.header
        judges = {f"judge of {family}": model for family, model in self.judges.items()}
        asked = {"asked": header.target, "corpus": header.corpus or ""}
        return {**asked, **dict(flat(header.settings)), **dict(flat(header.versions, "version of ")), **judges}


@dataclass(frozen=True, slots=True)
class History:
    """Runs of the same questions.

    Attributes:
        runs: oldest first; at most `MOST`, the newest, and always this one.
        left_out: folders of runs that cannot be read or have no scores, as `name: why`.
        older: how many more there are.
    """

    runs: tuple[Past, ...]
    left_out: tuple[str, ...] = ()
    older: int = 0

    @property
    def changes(self) -> tuple[int, ...]:
        """Places of the runs whose system is another than that of the run before."""
        pairs = zip(self.runs, self.runs[1:], strict=False)
        return tuple(place for place, (old, new) in enumerate(pairs, start=1) if old.fingerprint != new.fingerprint)

    def changed(self, place: int) -> list[str]:
        """Return what the run at this place differs in from the one before; nothing for the first."""
        return differences(self.runs[place - 1], self.runs[place]) if place else []


def differences(old: Past, new: Past) -> list[str]:
    """Return what changed from one run to the next, as `name: before → after`, as far as both tell it."""
    before, after = old.made_of(), new.made_of()
    return [
        f"{name}: {before[name]} → {after[name]}" for name in after if name in before and before[name] != after[name]
    ]


def read_history(folder: RunFolder, beside: Path) -> History:
    """Read the runs in the folder `beside` that asked what `folder` asked; that one is always among them."""
    this, questions = folder.path.resolve(), folder.header().questions_sha256
    asked = [case.id for case in folder.cases()]
    found: list[Path] = [this]
    left_out = list[str]()
    for path in sorted({path.resolve() for path in beside.iterdir()}) if beside.is_dir() else ():
        if path != this and (path / HEADER).is_file():
            try:
                if RunFolder(path).header().questions_sha256 == questions:
                    found.append(path)
            except RagError as error:
                left_out.append(f"{path.name}: {error.code}")
    found.sort(key=lambda path: (RunFolder(path).header().started, path.name))
    newest = found[-MOST:] if this in found[-MOST:] else [this, *found[1 - MOST :]]
    runs = list[Past]()
    for path in newest:
        try:
            past = _read(RunFolder(path), asked, this=path == this)
        except RagError as error:
            left_out.append(f"{path.name}: {error.code}")
            continue
        if isinstance(past, str):
            left_out.append(f"{path.name}: {past}")
        else:
            runs.append(past)
    return History(tuple(runs), tuple(left_out), len(found) - len(newest))


def _read(folder: RunFolder, asked: Sequence[str], *, this: bool) -> Past | str:
    """Return the run, or why it cannot stand beside one that asked `asked`."""
    header, cases = folder.header(), folder.cases()
    if [case.id for case in cases] != asked:
        return f"asked {len(cases)} of the questions"
    lines = folder.scores()
    cells = cells_of(lines)
    if not cells:
        return "no scores"
    summary = summarise(cases, cells)
    apart: Sequence[Mapping[str, Mean]] = (summary.answerable, summary.unanswerable)
    means = {name: next((part[name] for part in apart if part[name].n), mean) for name, mean in apart[0].items()}
    fingerprint = header.fingerprint or next((row.fingerprint for row in folder.rows().values() if row.fingerprint), "")
    return Past(folder.path.name, header, fingerprint, means, this, judges_of(lines))
