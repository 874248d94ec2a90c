"""`python -m ingestion doctor`: check that the stores of a corpus agree, and rebuild what is damaged.

A model on a server is checked, too: is it there, and is it the one that made the corpus?

Flow: `__main__.py` -> **here** -> `index/maintenance/doctor.py`, or `ingestion/maintenance/repair.py` with `--repair`.
"""

import argparse
import json

from index.maintenance.doctor import Diagnosis, check_model_server, diagnose
from ingestion.commands.options import add_corpus, corpus_of
from settings import Settings


def parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Read the arguments."""
    add_corpus(parser)
    parser.add_argument("--full", action="store_true", help="look at every passage, not at a sample")
    parser.add_argument("--repair", action="store_true", help="rebuild what can be made from the stored documents")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print what was found, and done; 1 when something is, or remains, wrong."""
    name = corpus_of(arguments, settings)
    if not arguments.repair:
        found = diagnose(name, settings, full=arguments.full)
        if (check := check_model_server(name, settings)) is not None:
            found = Diagnosis(found.corpus, [*found.checks, check])
        print(json.dumps(found.to_dict()) if arguments.json else _text(found))
        return 0 if found.healthy else 1
    from ingestion.maintenance.repair import repair  # noqa: PLC0415  # imports what embeds

    repaired = repair(name, settings)
    if arguments.json:
        print(json.dumps(repaired.to_dict()))
    else:
        nothing = "nothing to repair" if repaired.before.healthy else "nothing was repaired"
        print(_text(repaired.before))
        print("\n".join(f"done: {step}" for step in repaired.done) or nothing)
        if repaired.done:
            print(_text(repaired.after))
    return 0 if repaired.after.healthy else 1


def _text(diagnosis: Diagnosis) -> str:
    lines = [f"corpus {diagnosis.corpus!r}: {'healthy' if diagnosis.healthy else 'damaged'}"]
    for check in diagnosis.checks:
        lines.append(f"  {'ok   ' if check.ok else 'WRONG'}  {check.store}: {check.question}")
        if check.finding:
            lines.append(f"         {check.finding}")
        if check.repair:
            lines.append(f"         To mend it: {check.repair}")
    return "\n".join(lines)
