"""A folder of documents in two generations, the same ones for the same seed.

Every version of a document holds a unique word, `canary...`, by which it can be found.
"""

import json
import random
from pathlib import Path

WORDS = (
    "river engine copper harbour lantern meadow signal tower winter bridge garden market stone thread violet window "
    "anchor basket candle desert forest glacier island kettle ladder mirror needle orchard pepper quarry"
).split()


def write_first(folder: Path, seed: int) -> None:
    """Write the first generation: pages, texts, and files of many records, about 400 leaves."""
    folder.mkdir(parents=True)
    dice = random.Random(seed)
    for number in range(12):
        _write(folder / f"part{number % 3}" / f"page{number:02}.md", _page(dice, f"canarypage{number:02}old"))
        _write(folder / f"text{number:02}.txt", _text(dice, f"canarytext{number:02}old", 3))
    for number in range(3):
        _write(folder / f"records{number}.jsonl", _records(dice, number, range(60), "old"))


def write_second(folder: Path, seed: int) -> None:
    """Turn the first generation into the second: files changed, gone, renamed and new; records moved and dropped."""
    dice = random.Random(seed + 1)
    for number in range(0, 12, 3):
        _write(folder / f"part{number % 3}" / f"page{number:02}.md", _page(dice, f"canarypage{number:02}new"))
        (folder / f"text{number:02}.txt").unlink()
    (folder / "text01.txt").rename(folder / "text91.txt")
    (folder / "part1" / "page01.md").rename(folder / "part2" / "page91.md")
    _write(folder / "part4" / "page99.md", _page(dice, "canarypage99new"))
    with (folder / "text02.txt").open("a") as file:
        file.write("\n\n" + _text(dice, "canarytext02new", 1))
    _write(folder / "records0.jsonl", _records(dice, 0, range(20, 90), "new"))
    (folder / "records1.jsonl").unlink()
    (folder / "records2.jsonl").rename(folder / "moved2.jsonl")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def _sentence(dice: random.Random) -> str:
    return " ".join(dice.choices(WORDS, k=9)).capitalize() + "."


def _text(dice: random.Random, canary: str, paragraphs: int) -> str:
    return "\n\n".join(f"{_sentence(dice)} The {canary}. {_sentence(dice)}" for _ in range(paragraphs)) + "\n"


def _page(dice: random.Random, canary: str) -> str:
    return f"# About {dice.choice(WORDS)}\n\n{_text(dice, canary, 4)}"


def _records(dice: random.Random, file: int, numbers: range, generation: str) -> str:
    rows = (
        {"id": f"r{file}-{number:03}", "text": f"The canaryr{file}n{number:03}{generation}. {_sentence(dice)}"}
        for number in numbers
    )
    return "".join(json.dumps(row) + "\n" for row in rows)
