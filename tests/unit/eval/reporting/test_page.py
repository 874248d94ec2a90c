"""The page is read as a browser would: parsed, never matched as text where a value may be somebody else's."""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import lxml.html
import pytest

from eval.cells import failed, scored
from eval.reporting import page as page_module
from eval.reporting.gather import gather
from eval.reporting.page import render_page
from eval.rows import Quote
from eval.run_folder import RunFolder
from eval.scoring.catalogue import METRICS
from tests.fakes.runs import DAM, SAMPLE_CASES, SAMPLE_ROWS, case, reply, sample_cells, sample_run, write_run

EVIL = "\"'><script>alert(1)</script></style><!--<img src=x onerror=alert(2)>{{ 7 * 7 }}"
HANDLERS = re.compile(r"^on", re.IGNORECASE)


def page(folder: RunFolder, **known: Any) -> Any:
    return lxml.html.document_fromstring(html(folder, **known))


def html(folder: RunFolder, against: RunFolder | None = None) -> str:
    return render_page(gather(folder, against))


def texts(found: list[Any]) -> list[str]:
    return [" ".join(one.text_content().split()) for one in found]


@pytest.fixture
def sample(tmp_path: Path) -> RunFolder:
    return sample_run(tmp_path / "sample")


@pytest.fixture
def hostile(tmp_path: Path) -> RunFolder:
    quotes = (
        Quote(number=1, doc_id=EVIL, title=EVIL, quote=EVIL, url="javascript:alert(3)"),
        Quote(number=2, title="a page", url="https://example.org/?q=" + EVIL.replace(" ", "")),
    )
    row = reply(
        EVIL, f"{EVIL} [1] [2]\x1b[31m\u202e", EVIL, citations=quotes, warnings=(EVIL,), synthesizer=EVIL,
        fingerprint=EVIL, timings_ms={EVIL: 1},
    )  # fmt: skip
    return write_run(
        tmp_path / "hostile",
        [case(EVIL, EVIL, EVIL, category=EVIL, reference_context=EVIL)],
        [row],
        {EVIL: {EVIL: {EVIL: scored(0.5), "word_recall": failed(EVIL)}}},
        questions=EVIL, target=EVIL, corpus=EVIL, fingerprint=EVIL, settings={EVIL: {EVIL: EVIL}},
        versions={EVIL: EVIL}, started=EVIL,
    )  # fmt: skip


def test_the_page_needs_nothing_from_elsewhere(sample: RunFolder) -> None:
    tree = page(sample)

    assert not tree.xpath("//link | //img | //iframe | //object | //embed | //script[@src] | //base")
    assert not tree.xpath("//@style")
    assert "url(" not in tree.xpath("string(//style)")
    assert "@import" not in tree.xpath("string(//style)")


def test_the_pages_own_policy_allows_its_scripts_and_style_and_nothing_else(sample: RunFolder) -> None:
    tree = page(sample)
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")

    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    parts = tree.xpath("//script | //style")
    assert len(parts) == 3
    for part in parts:
        assert base64.b64encode(hashlib.sha256(part.text.encode()).digest()).decode() in policy


def test_what_others_wrote_stays_text(hostile: RunFolder) -> None:
    tree = page(hostile)

    assert len(tree.xpath("//script")) == 2
    assert not tree.xpath("//img | //comment()")
    assert not [name for element in tree.iter() for name in element.attrib if HANDLERS.match(name)]
    assert {one.partition(":")[0] for one in tree.xpath("//a/@href") if not one.startswith("#")} == {"https"}
    (answer,) = tree.xpath("//blockquote[contains(@class, 'answer')]")
    assert answer.text_content() == f"{EVIL} [1] [2]⟨U+001B⟩[31m⟨U+202E⟩"
    assert EVIL in texts(tree.xpath("//table[@class='scores']//tbody//th"))
    assert "49" not in answer.text_content()


def test_the_same_run_gives_the_same_bytes(sample: RunFolder) -> None:
    assert html(sample) == html(sample)


@pytest.mark.promise("E27")
def test_each_mean_stands_beside_its_coverage_and_unanswerable_rows_apart(sample: RunFolder) -> None:
    first, second = page(sample).xpath("//table[contains(@class, 'scores')]")

    rows = {one[0]: one[1:4] for one in (texts(row.xpath("./th | ./td")) for row in first.xpath(".//tr[td]"))}
    assert rows["word_recall"] == ["0.300", "", "5/6"]
    assert rows["declined ↓ (lower is better)"][2] == "6/6"
    declined = second.xpath(".//tr[td]")[0]
    assert texts(declined.xpath("./th | ./td"))[:4] == ["abstention_recall", "0.500", "", "2/2"]


def test_every_question_is_there_with_its_class_and_what_is_not_applicable_and_why(sample: RunFolder) -> None:
    bodies = page(sample).xpath("//table[@id='question-table']/tbody")

    assert [body.get("data-kind") for body in bodies] == [case.id for case in SAMPLE_CASES]
    failed_row, spared = bodies[5].text_content(), " ".join(bodies[6].text_content().split())
    assert "There is no reply: 503: too many questions" in failed_row
    assert "failed: no reply: 503" in failed_row
    assert "the corpus does not answer itword_recall" in spared
    assert "Reason for declining: no_retrieval" in spared


def test_marks_lead_to_the_quotes_and_quotes_are_marked_in_the_passages(sample: RunFolder) -> None:
    tree = page(sample)
    body = tree.xpath("//tbody[@data-kind='unsaid']")[0]

    (link,) = body.xpath(".//blockquote[contains(@class, 'answer')]//a/@href")
    assert tree.get_element_by_id(link[1:]).tag == "li"
    assert texts(body.xpath(".//span[@class='stray']")) == ["[7]"]
    assert body.xpath("string(.//details//mark)") == body.xpath("string(.//li[@id]//blockquote)")


def test_no_two_elements_share_an_id_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    quotes = tuple(Quote(number=1, quote=text) for text in ("one", "two"))
    row = reply("right", "In 1991 [1].", DAM, citations=quotes)
    tree = page(write_run(tmp_path / "a", SAMPLE_CASES[:1], [row], cells_of("right")))
    ids = tree.xpath("//@id")

    assert len(ids) == len(set(ids))
    assert {link[1:] for link in tree.xpath("//a/@href")} <= set(ids)
    assert {name for value in tree.xpath("//@aria-controls") for name in value.split()} <= set(ids)


def cells_of(*ids: str) -> Any:
    return {id_: cells for id_, cells in sample_cells().items() if id_ in ids}


def test_tables_and_pictures_can_be_heard(sample: RunFolder) -> None:
    tree = page(sample)

    assert not tree.xpath("//thead//th[not(@scope)]")
    assert not tree.xpath("//table[@class != 'cells'][not(caption)]")
    assert not tree.xpath("//svg[not(@role='img' and @aria-label) and not(@aria-hidden='true')]")
    assert tree.xpath("//table[@id='question-table']/thead//th[@aria-sort]")
    assert len(tree.xpath("//main//section[@id]/h2")) == 7
    assert tree.xpath("//html/@lang") == ["en"]


def test_at_least_three_failures_are_shown_and_every_class_has_its_rule(sample: RunFolder) -> None:
    tree = page(sample)

    assert len(tree.xpath("//article[@class='example']")) >= 3
    classes = texts(tree.xpath("//table[@class='classes']//tbody//th"))
    assert classes[:2] == ["Retrieval missed it", "In context but not answered"]
    assert len(classes) == 6
    assert all(texts(tree.xpath("//table[@class='classes']//td[@class='about']")))


@pytest.mark.promise("G16")
def test_settings_versions_fingerprint_and_collection_are_told(sample: RunFolder) -> None:
    told = " ".join(page(sample).get_element_by_id("setup").text_content().split())

    for part in ("retrieval.top_k20", "treeline0.9.0", "Fingerprintf1f1", "Index: documents12", "offline: every"):
        assert part in told


def test_another_run_stands_beside(sample: RunFolder, tmp_path: Path) -> None:
    tree = page(sample, against=sample_run(tmp_path / "other"))

    assert "other" in texts(tree.xpath("//table[contains(@class, 'scores')]//thead//th"))
    assert "No question of both runs came to another end." in tree.get_element_by_id("overview").text_content()


def test_verdicts_come_first_and_only_what_is_more_than_chance_is_coloured(tmp_path: Path) -> None:
    cases = [case(f"q{n}", f"When was number {n} built?", "1991") for n in range(40)]
    rows = [reply(one.id, "In 1991.", DAM) for one in cases]

    def scores(lost: int, less: float) -> Any:
        return {
            f"q{n}": {
                "answer": {"word_recall": scored(float(n >= lost)), "token_f1": scored(0.5 - less * (n % 7 == 0))}
            }
            for n in range(40)
        }

    before = write_run(tmp_path / "before", cases, rows, scores(0, 0))
    after = write_run(tmp_path / "after", cases, rows, scores(20, 0.04))
    tree = page(after, against=before)

    first = tree.xpath("//header//li")
    assert [one.text_content().split(" ")[0] for one in first] == ["Quality:", "Speed:", "Cost:"]
    assert [one.get("class") for one in tree.xpath("//header//li/strong")] == ["worse", None, None]
    coloured = tree.xpath("//td[contains(@class, 'worse') or contains(@class, 'better')]/preceding-sibling::th")
    assert texts(coloured) == ["word_recall"]


def test_long_answers_and_passages_are_cut_and_say_so(tmp_path: Path) -> None:
    row = reply("right", "word [1] " * 120_000, *(["passage " * 5_000] * 4))
    document = html(write_run(tmp_path / "a", SAMPLE_CASES[:1], [row], cells_of("right")))

    assert len(document.encode()) < 300_000
    assert "1,074,000 more characters are not shown" in document
    assert "3 more passages are not shown" in document


def test_three_hundred_questions_with_full_contexts_stay_below_five_megabytes(tmp_path: Path) -> None:
    cases = [case(f"q{n}", f"When was wind farm number {n} built?", "1991", category="factual") for n in range(300)]
    rows = [reply(one.id, "It was built in 1991 [1]. " * 8, *([DAM * 6] * 12)) for one in cases]
    names = [name for name in METRICS if "@" in name or METRICS[name].family in ("answer", "citations")]
    cells = {one.id: {"answer": {name: scored(0.5) for name in names}} for one in cases}

    assert len(html(write_run(tmp_path / "a", cases, rows, cells)).encode()) < 5_000_000


def test_of_very_many_questions_those_that_went_wrong_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "MOST_QUESTIONS", 6)
    tree = page(sample_run(tmp_path / "a"))

    kinds = tree.xpath("//table[@id='question-table']/tbody/@data-kind")
    assert kinds == ["missed", "unsaid", "against", "declined", "failed", "invented"]
    assert "The page shows 6 of 8 questions" in tree.text_content()


@pytest.mark.parametrize("only", [0, 5, 6])
def test_a_run_of_one_question_has_a_page_for_any_outcome(tmp_path: Path, only: int) -> None:
    asked = SAMPLE_CASES[only]
    rows = [row for row in SAMPLE_ROWS if row.id == asked.id]
    tree = page(write_run(tmp_path / "a", [asked], rows, cells_of(asked.id)))

    assert len(tree.xpath("//table[@id='question-table']/tbody")) == 1
