"""Line up the runs of the same questions, oldest first.

Flow: a folder of runs -> **here** -> the chart and the table of the page. Runs of other questions are not part of this
history: the hash of the questions decides, not their names. What is shown of a run is kept in its folder, so that a
hundred runs open without reading all their replies again.
"""

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from pydantic import BaseModel, ValidationError

from errors import RagError
from eval.cases import apart
from eval.cells import Mean, Metric, means, metric_names
from eval.comparing.pairing import differing
from eval.run_folder import CASES, HEADER, ROWS, SCORES, Header, RunFolder, cells_of, judges_of, replace_file

MOST = 100
KEPT = ".means.json"


class Overview(BaseModel):
    """What a history shows of a run.

    Attributes:
        of: sizes and times of the files that it was computed from; another one is out of date.
        asked: ids of the questions, in their order.
        means: by metric: over the answerable questions, where there are any of them, else over the others.
        judges: the judging models by family.
        fingerprint: of the first reply that tells one.
    """

    of: tuple[tuple[int, int], ...]
    asked: tuple[str, ...]
    means: dict[str, Mean]
    judges: dict[str, str]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Past:
    """One run of the history.

    Attributes:
        name: of its folder.
        header: what it is of.
        kept: its means and judges.
        this: whether it is the run that the report is about.
    """

    name: str
    header: Header
    kept: Overview
    this: bool

    @property
    def fingerprint(self) -> str:
        """What was asked: the header's fingerprint, or that of the first reply."""
        return self.header.fingerprint or self.kept.fingerprint


@dataclass(frozen=True, slots=True)
class History:
    """Runs of the same questions.

    Attributes:
        runs: oldest first; at most `MOST`, the newest, and always this one.
        left_out: folders of runs that cannot be read or have no scores, as `name: why`.
        older: how many more there are.
    """

    runs: list[Past]
    left_out: list[str]
    older: int

    @property
    def changes(self) -> list[int]:
        """Places of the runs whose system is another than that of the run before."""
        pairs = enumerate(pairwise(self.runs), start=1)
        return [place for place, (old, new) in pairs if old.fingerprint != new.fingerprint]

    def points(self, metric: Metric) -> list[tuple[int, Past, float]]:
        """Return the place and the mean of each run that has a mean."""
        means = ((place, past, past.kept.means.get(metric.name)) for place, past in enumerate(self.runs))
        return [(place, past, mean.value) for place, past, mean in means if mean and mean.value is not None]

    def changed(self, place: int) -> list[str]:
        """Return the differences between the run at this place and the one before, in what both report."""
        if not place:
            return []
        old, new = (differing(past.header, past.kept.judges) for past in self.runs[place - 1 : place + 1])
        return [f"{name}: {old[name]} → {new[name]}" for name in new if name in old and old[name] != new[name]]


def read_history(folder: RunFolder) -> History:
    """Read the runs beside this one that asked the same questions; this one is always among them."""
    this, header, asked = folder.path.resolve(), folder.header(), tuple(case.id for case in folder.cases())
    found, left_out = {this: header}, list[str]()
    for path in sorted({path.resolve() for path in this.parent.iterdir()}):
        if path != this and (path / HEADER).is_file():
            try:
                found[path] = RunFolder(path).header()
            except RagError as error:
                left_out.append(f"{path.name}: {error.code}")
    same = [path for path, one in found.items() if one.questions_sha256 == header.questions_sha256]
    same.sort(key=lambda path: (found[path].started, path.name))
    newest = same[-MOST:] if this in same[-MOST:] else [this, *same[1 - MOST :]]
    runs = list[Past]()
    for path in newest:
        try:
            kept = overview(RunFolder(path))
        except RagError as error:
            left_out.append(f"{path.name}: {error.code}")
            continue
        if kept.asked != asked:
            left_out.append(f"{path.name}: asked {len(kept.asked)} of the questions")
        elif not kept.means:
            left_out.append(f"{path.name}: no scores")
        else:
            runs.append(Past(path.name, found[path], kept, path == this))
    return History(runs, left_out, len(same) - len(newest))


def overview(folder: RunFolder) -> Overview:
    """Return what is kept of a run, or compute and keep it; where the folder cannot be written it is only computed.

    Raises:
        RunFolderError: the run is damaged.
    """
    paths = [folder.path / name for name in (CASES, ROWS, SCORES)]
    of = tuple((path.stat().st_size, path.stat().st_mtime_ns) if path.exists() else (0, 0) for path in paths)
    with suppress(OSError, ValidationError):
        kept = Overview.model_validate_json((folder.path / KEPT).read_bytes())
        if kept.of == of:
            return kept
    cases, rows = folder.cases(), folder.rows()
    scores = folder.scores(rows)
    cells = cells_of(scores)
    names = metric_names(cells)
    answerable, unanswerable = (means((cells.get(case.id, {}) for case in some), names) for some in apart(cases))
    found = Overview(
        of=of,
        asked=tuple(case.id for case in cases),
        means={name: mean if mean.n else unanswerable[name] for name, mean in answerable.items()},
        judges=judges_of(scores),
        fingerprint=next((row.fingerprint for row in rows.values() if row.fingerprint), ""),
    )
    with suppress(OSError):
        replace_file(folder.path / KEPT, found.model_dump_json())
    return found
