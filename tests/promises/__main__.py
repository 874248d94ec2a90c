"""`python -m tests.promises`: write `reference/promises.md`. Exit code 1 if a promise has no test, or a mark none."""

import sys

from tests.promises.sheet import PAGE, page, problems


def main() -> int:
    """Write the page and tell what does not fit."""
    PAGE.write_text(page(), encoding="utf-8")
    found = problems()
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
