"""Sum a run up for a history, and keep that in its folder: a hundred runs open without reading all their replies again.

Flow: a run's folder -> **here** -> `reporting/history.py`; `scoring/stage.py` has it computed once a run is scored.
"""

from contextlib import suppress

from pydantic import BaseModel, ValidationError

from eval.cases import apart
from eval.cells import Mean, means, metric_names
from eval.run_folder import CASES, ROWS, SCORES, RunFolder, cells_of, judges_of, replace_file

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
