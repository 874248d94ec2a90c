"""Papers as plain text, and objects cut from them."""

import pytest

from ingestion.reading.paper import paper_name, read_paper, salient_terms, without_references, without_running_lines

PAPER = "5f6a1b2c3d4e5f6a1b2c3d4e"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (f"{PAPER}.txt", (PAPER, None)),
        (f"covid/{PAPER}.fig-3.txt", (PAPER, "fig-3")),
        (f"{PAPER}.7.txt.gz", (PAPER, "7")),
        ("0b1f2c3d-0000-4111-8222-333344445555.txt", ("0b1f2c3d-0000-4111-8222-333344445555", None)),
        ("notes.v2.txt", None),
        ("deadbeef.txt", None),
        (f"{PAPER}0.txt", None),
        (f"{PAPER}.md", None),
        (f"{PAPER}.a.b.txt", None),
    ],
)
def test_only_ids_that_no_person_gives_to_a_file_make_it_a_paper(
    name: str, found: tuple[str, str | None] | None
) -> None:
    assert paper_name(name) == found


def test_any_text_is_a_paper_where_that_is_asked_for() -> None:
    assert paper_name("a/PMC12.fig1.txt", anything=True) == ("PMC12", "fig1")
    assert paper_name("a/PMC12.md", anything=True) is None


def test_a_paper_gets_its_ids_and_terms_as_metadata() -> None:
    text = "A study of masks\n\nThe World Health Organization (WHO) advised masks. SARS-CoV-2 spreads. WHO agreed."

    document = read_paper(text.encode(), f"covid/{PAPER}.tab2.txt", PAPER, "tab2")

    assert (document.doc_id, document.title) == (f"covid/{PAPER}.tab2.txt", "A study of masks")
    assert document.metadata["paper_id"] == PAPER
    assert document.metadata["cosmos_object_id"] == "tab2"
    assert document.metadata["doc_type"] == "paragraph"
    assert "250" in str(document.metadata["preprocessor_id"])
    terms = document.metadata["paragraph_terms"]
    assert isinstance(terms, list)
    assert terms[0] == "WHO"
    assert "World Health Organization" in terms


def test_terms_are_acronyms_and_names_of_words_the_most_frequent_first_and_at_most_fifty() -> None:
    text = "The Markov Chain Monte Carlo (MCMC) runs. MCMC works. Markov is one word. mRNA and DNA2. " + " ".join(
        f"{chr(65 + n // 26)}{chr(65 + n % 26)}X" for n in range(200)
    )

    terms = salient_terms(text)

    assert terms[:2] == ["MCMC", "Markov Chain Monte Carlo"]
    assert "Markov" not in terms
    assert len(terms) == 50


@pytest.mark.promise("C12")
def test_the_list_of_references_is_left_out() -> None:
    text = "Contents\n\nReferences\n\n1 Introduction\nWe refer.\n\n6. References\n[1] A. Writer."

    assert without_references(text) == "Contents\n\nReferences\n\n1 Introduction\nWe refer.\n"
    assert without_references("See the references of others.") == "See the references of others."


@pytest.mark.promise("C12")
def test_lines_that_run_along_the_pages_go_and_rows_of_a_table_stay() -> None:
    pages = [
        "\n".join(
            [
                f"Journal of Wind 12 ({page})",
                *(f"Sentence {chr(97 + page)}{chr(97 + n)}." for n in range(12)),
                f"{page}",
            ]
        )
        for page in range(1, 6)
    ]
    table = "\n".join(f"Turbine {n} {n * 3}" for n in range(6))

    cleaned = without_running_lines("\n".join(pages) + "\n" + table)

    assert cleaned.count("Journal of Wind") == 1
    assert cleaned.count("Sentence") == 60
    assert cleaned.count("Turbine") == 6
    assert "\n3\n" not in cleaned
