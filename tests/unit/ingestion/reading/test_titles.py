"""Titles, and what programs leave in their place."""

import pytest

from ingestion.reading.titles import own_title


@pytest.mark.parametrize(
    "title",
    [
        "Annual report 2017",
        "Wychmoor Salt Works",
        "Slide rules of the sea",
        "年報",
        "Normal accidents",
        "TCP/IP in depth",
        "Draft horses",
        "Print shops of Leith",
        "Page turners",
        "COVID-19",
        "Job 1:21 and grief",
        "PAL: Program-aided Language Models",
        "Form 10-K for ACME filed 07/27/2023",
        "Bilan",
    ],
)
def test_titles_are_kept(title: str) -> None:
    assert own_title(title) == title


@pytest.mark.parametrize(
    "title",
    [
        "", " ", None, 7, "(anonymous)", "untitled", "Untitled-2", "Microsoft Word - minutes", "Presentation1",
        "PowerPoint Presentation", "Book1", "Slide 1", "Word Document", "Document1", "Normal.dotm", "report_v2.docx",
        "Office Theme", "Untitled-1", "Microsoft Word - x", "(unspecified)", "<None>", "[Unknown]", "New Document (2)",
        "report.docx", "d415983d10k.htm", "0001018724-18-000005", "10-K",
        "PowerPoint-Präsentation", "Présentation PowerPoint", "Mappe1", "Click to edit Master title style", "2017", "x",
        "Untitled document", "Untitled_2", "Draft", "Draft 2", "Entwurf", "Page 1", "Layout 1", "brochure.qxp",
        "brochure_v2.qxp:Layout 1", "plan.vsd", "report.pdf (1)", "report.pdf - Adobe Acrobat", "annual_report_final",
        "C:\\docs\\annual report", "about:blank", "file:///tmp/x", "Print", "Print Job 12", "Remote Downlevel Document",
        "smbprn.00004321", "Druckauftrag", "Job_1234", "Microsoft Outlook - Memo Style",
    ],
)  # fmt: skip
def test_what_programs_leave_is_no_title(title: object) -> None:
    assert own_title(title) is None
