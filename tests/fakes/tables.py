"""Read the Markdown tables that commands print."""


def plain_rows(text: str) -> list[str]:
    """Return the lines of a text, those of its tables without padding and rule."""
    return [_plain(line) for line in text.splitlines() if not line.startswith("| -")]


def _plain(line: str) -> str:
    return f"| {' | '.join(map(str.strip, line.strip('|').split('|')))} |" if line.startswith("| ") else line
