"""Documents are read at their source: markup goes, words stay."""

import json
from pathlib import Path

from docx import Document

from bench.quality.helpful.sources import read_folded
from tests.fakes.pdfs import make_pdf
from tests.zoo.office import make_odf


def test_each_format_becomes_its_words(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "notes.md").write_text("# Salt **pans**")
    page = "<nav>Home</nav><style>p {}</style><p>Tea &amp; cake<script>if (a<b) x()</script><b>here</b>"
    (tmp_path / "page.html").write_text(page)
    (tmp_path / "terms.pdf").write_bytes(make_pdf("Wages fall due\nin May.", "Page two"))
    (tmp_path / "form.odt").write_bytes(make_odf("text", "<text:p>Name: Ada</text:p>"))
    (tmp_path / "other.md").write_text("not wanted")
    records = [{"doc_id": "glossary/wake", "text": "Slow\u2028wind"}, {"doc_id": "glossary/rotor", "text": "x"}]
    (tmp_path / "terms.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in records))
    contract = Document()
    contract.add_paragraph("Rent: £5")
    contract.save(str(tmp_path / "contract.docx"))

    assert read_folded(tmp_path, {"notes.md", "page.html", "terms.pdf", "form.odt", "wake", "contract.docx"}) == {
        "notes.md": " salt pans ",
        "page.html": " home tea cake here ",
        "terms.pdf": " wages fall due in may page two ",
        "form.odt": " name ada ",
        "wake": " slow wind ",
        "contract.docx": " rent 5 ",
    }


def test_a_corpus_may_be_one_file_of_records(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"doc_id": "a1", "text": "Salt."}')

    assert read_folded(tmp_path / "corpus.jsonl", {"a1"}) == {"a1": " salt "}
