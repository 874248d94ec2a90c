"""`python -m tests.faults JUNIT_XML...`: write the sheet of faults, for `make reliability`.

Writes `reference/reliability.json` and the table at the end of `reference/reliability.md`. Exit code 1 if a fault
fails, or if no test tries it and `faults.toml` does not say why.
"""

import argparse
import json
import platform
import sys
from pathlib import Path

from settings import VERSION
from tests.faults.sheet import FAILS, joined, to_json, to_table

REFERENCE = Path(__file__).parents[2] / "reference"
BEGINS = "<!-- `make reliability` writes what follows -->\n"


def main() -> int:
    """Write both files."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("reports", type=Path, nargs="+", metavar="JUNIT_XML", help="of one run, or of its parts")
    rows = joined(parser.parse_args().reports)
    about = {"treeline": VERSION, "python": platform.python_version()}
    (REFERENCE / "reliability.json").write_text(json.dumps({**about, "faults": to_json(rows)}, indent=1) + "\n")
    page = REFERENCE / "reliability.md"
    written, begins, _ = page.read_text(encoding="utf-8").partition(BEGINS)
    page.write_text(f"{written}{begins}\n{to_table(rows)}\n", encoding="utf-8")
    bad = [row for row in rows if row.result == FAILS or row.missing]
    for row in bad:
        print(f"{row.id}: {row.fault}: " + ("no test tries it" if row.missing else ", ".join(row.failed)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
