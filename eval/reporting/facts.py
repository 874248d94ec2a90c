"""Collect what a run was made of: when, of what system, with which settings, over which documents.

Flow: header + rows -> **here** -> the page and the Markdown. Pure. Only what the run itself tells.
"""

from collections.abc import Mapping

from eval.cells import Cell
from eval.reporting.gather import JUDGED, Gathered
from eval.reporting.number_format import flat, moment

SOURCES = {
    "offline": "offline: every score is computed, no language model judged",
    "judge": "judge: every score of an answer comes from a language model",
    "mixed": "mixed: some metrics are computed, some come from a judge; the family of each metric tells which",
}


def run_facts(run: Gathered) -> dict[str, str]:
    """Return what the run is of, in words."""
    header = run.header
    fingerprints = dict.fromkeys(row.fingerprint for row in run.rows.values() if row.fingerprint)
    return {
        "Started": moment(header.started),
        "Questions": f"{header.questions} ({len(run.cases)}), SHA-256 {header.questions_sha256[:12] or 'unknown'}",
        "Asked": header.target,
        "Corpus": header.corpus or "the service's default",
        "Fingerprint": header.fingerprint or ", ".join(fingerprints) or "not told by the service",
        "Scores": SOURCES[run.source],
        **_judging(run),
    }


def collection(run: Gathered) -> dict[str, str]:
    """Return what the replies show of the corpus; empty if the service tells no passages."""
    told = run.header.settings.get("index")
    passages = [passage for row in run.rows.values() for passage in row.passages]
    if not passages:
        return {}
    documents = {passage.doc_id for passage in passages if passage.doc_id}
    relevant = {doc for case in run.cases for doc in case.relevant_docs}
    per_row = [len(row.passages) for row in run.rows.values() if row.passages]
    mean_chars = sum(len(passage.text) for passage in passages) / len(passages)
    return {
        "Documents read from": f"{len(documents):,}" if documents else "not told",
        "Documents asked about": f"{len(relevant):,}" if relevant else "not told",
        "Passages of a reply": f"{sum(per_row) / len(per_row):.1f} on average, at most {max(per_row)}",
        "Characters of a passage": f"{mean_chars:,.0f} on average",
        **{f"Index: {name}": value for name, value in flat(told if isinstance(told, dict) else {})},
    }


def settings(run: Gathered) -> dict[str, str]:
    """Return the snapshot of the settings, groups joined by points."""
    return dict(flat(run.header.settings))


def coverage(cells: Mapping[str, Mapping[str, Cell]]) -> tuple[int, int]:
    """Return how many cells hold a score, of those that should."""
    wanted = [cell for row in cells.values() for cell in row.values() if cell.not_applicable is None]
    return sum(cell.score is not None for cell in wanted), len(wanted)


def _judging(run: Gathered) -> dict[str, str]:
    scored, of = coverage(run.cells)
    judged = [metric for metric in run.metrics if metric.family in JUDGED]
    judges = {f"Judge ({family})": by for family, by in run.judges.items()}
    told = {"Coverage": f"{scored:,} of {of:,} cells that should hold a score do"}
    return told | ({"Judged metrics": ", ".join(metric.name for metric in judged)} if judged else {}) | judges
