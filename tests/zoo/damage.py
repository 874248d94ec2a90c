"""Generates damaged copies of healthy files, and hostile files.

Flow: tests -> **here** -> names and contents. The same seed gives the same bytes.
"""

import gzip
import json
import random
from bz2 import compress
from collections.abc import Iterator, Mapping

from tests.zoo import office
from tests.zoo.archives import make_mail, make_tar, make_zip

FLIPPED_BYTES = 8
DEPTH = 50_000
ARCHIVES_DEPTH = 40
_LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a0 "ha ha ha ha">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + "]>"
)


def damaged(healthy: Mapping[str, bytes], flips: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield copies that are cut short, with wrong bytes, empty, and with the suffix of another format.

    Args:
        healthy: suffix -> a file.
        flips: how many copies with wrong bytes to make of each.
        seed: of those bytes.
    """
    chance = random.Random(seed)  # not for secrets
    suffixes = list(healthy)
    for number, (suffix, data) in enumerate(healthy.items()):
        yield f"half{suffix}", data[: len(data) // 2]
        yield f"short{suffix}", data[: -max(1, len(data) // 20)]
        for copy in range(flips):
            wrong = bytearray(data)
            for _ in range(FLIPPED_BYTES):
                wrong[chance.randrange(len(wrong))] ^= 1 << chance.randrange(8)
            yield f"wrong{copy}{suffix}", bytes(wrong)
        yield f"empty{suffix}", b""
        yield f"alien{suffix}", healthy[suffixes[(number + 7) % len(suffixes)]]


def hostile(bomb_mb: int) -> Iterator[tuple[str, bytes]]:
    """Yield archives that unpack to `bomb_mb` million bytes, entity bombs, and endless nesting."""
    bomb = b" " * (bomb_mb * 1_000_000)
    for suffix in (".docx", ".xlsx", ".pptx", ".odt", ".epub"):
        main = {".docx": "word/document.xml", ".xlsx": "xl/workbook.xml", ".pptx": "ppt/presentation.xml"}
        yield (
            f"bomb{suffix}",
            make_zip({"[Content_Types].xml": "<Types/>", main.get(suffix, "content.xml"): bomb}),
        )
    yield "bomb.zip", make_zip({"a.txt": bomb})
    yield "bomb.tgz", make_tar({"a.txt": bomb}, "w:gz")
    yield "bomb.md.gz", gzip.compress(bomb, mtime=0)
    yield "bomb.txt.bz2", compress(bomb)

    laughs = f"{_LAUGHS}<x>&a9;</x>"
    yield "laughs.xml", laughs.encode()
    yield "laughs.xhtml", f"{_LAUGHS}<html><body><p>&a9;</p></body></html>".encode()
    yield "laughs.docx", make_zip({"[Content_Types].xml": "<Types/>", "word/document.xml": laughs})
    yield "laughs.odt", make_zip({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": laughs})

    inner = mail = b"# Innermost\n\nWords.\n"
    for _ in range(ARCHIVES_DEPTH):
        inner = make_zip({"inner.zip" if inner.startswith(b"PK") else "inner.md": inner})
        mail = make_mail("Words.", mails={"inner.eml": mail} if mail.startswith(b"From") else {})
    yield "nested.zip", inner
    yield "nested.eml", mail
    yield "nested.html", b"<html><body>" + b"<div>" * DEPTH + b"Words"
    yield "nested.xml", b"<a>" * DEPTH + b"Words" + b"</a>" * DEPTH
    yield (
        "nested.mediawiki.xml",
        (
            b"<mediawiki><page><title>T</title><ns>0</ns><id>1</id><revision><text>"
            + b"{{a|[[" * DEPTH
            + b"</text></revision></page></mediawiki>"
        ),
    )
    yield "nested.json", b"[" * DEPTH
    yield "nested.jsonl", b'{"text": "Words", "a": ' + b"[" * DEPTH + b"\n"
    yield "nested.ipynb", json.dumps({"cells": []}).encode()[:-2] + b"[" * DEPTH
    yield "nested.rtf", b"{\\rtf1 Words " + b"{" * DEPTH
    yield "nested.md", b">" * DEPTH + b" Words"
    yield "nested.rst", b"".join(b" " * depth + b"* Words\n\n" for depth in range(1000))
    yield "nested.adoc", b"".join(b"*" * depth + b" Words\n" for depth in range(1, 1000))
    yield "nested.org", b"".join(b" " * depth + b"- Words\n" for depth in range(1000))
    yield "nested.docx", office.make_word("<w:sdt><w:sdtContent>" * DEPTH)
