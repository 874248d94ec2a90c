"""Which words of a question are identifiers, and what in a text names the same thing."""

import pytest

from query_engine.question.identifiers import identifiers, without_identifiers


@pytest.mark.fault("D24")
@pytest.mark.parametrize(
    ("question", "codes", "numbers"),
    [
        ("How heavy is the QR-750?", ["QR-750"], []),
        ("Who ordered 88213 and 88231?", ["88213", "88231"], []),
        ("What was new in v4.10.2?", ["4.10.2"], []),
        ("Where is rack 10.20.3.7?", ["10.20.3.7"], []),
        ("What happened on 2021-11-09?", ["2021-11-09"], []),
        ("What did they vote on 7 June 2021, and in 2022?", ["7 June 2021"], ["2022"]),
        ("Who came on August 3rd, 2020?", ["August 3rd, 2020"], []),
        ("Was kostete es am 1. März 2019?", ["1. März 2019"], []),
        ("¿Qué pasó el 14 de abril de 2023?", ["14 de abril de 2023"], []),
        ("Which fees held in 2018?", [], ["2018"]),
        ("What was revenue in FY2016?", [], ["2016"]),
        ("What does clause 9.4 say?", ["9.4"], []),
        ("Was steht in § 14?", ["14"], []),
        ("Que dit l'article 3 ?", ["3"], []),
        ("Can I keep 12 files of 10GB until the 3rd try?", [], []),
        ("Is the 74HC595 faster than a 2N3904?", ["74HC595", "2N3904"], []),
        ("Who delivered 480913KL?", ["480913KL"], []),
        ("What was in parcel 52-4471?", ["52-4471"], []),
        ("Did 12.500 people come in 2019-2020 or 2021/22?", [], ["12.500", "2019-2020", "2021/22"]),
        ("Does S3 take fees2019.ods?", [], ["S3", "fees2019.ods"]),
        ("Where is room 3.07?", ["3.07"], []),
        ("What is locker 3.07 used for?", ["3.07"], []),
        ("Wer sitzt in Raum 3.07?", ["3.07"], []),
        ("Qui occupe la salle 3.07 ?", ["3.07"], []),
        ("¿Quién usa la sala 3.07, arriba?", ["3.07"], []),
        ("Do I fill in box 4.2 (and box 4.3)?", ["4.2", "4.3"], []),
        ("Who pays 2.50 euros?", [], ["2.50"]),
        ("Did it rise to 2.5?", [], ["2.5"]),
        ("Was gibt es für 2.50 €, was kostet 2.50 €?", [], ["2.50"]),
        ("Does a bag weighing 2.5 kg fly? Is 2.5 too much?", [], ["2.5"]),
        ("Is it a crowd of 12.500?", [], ["12.500"]),
    ],
)
def test_codes_and_numbers_of_a_question(question: str, codes: list[str], numbers: list[str]) -> None:
    found = identifiers(question)

    assert [one.text for one in found if one.is_code] == codes
    assert [one.text for one in found if not one.is_code] == numbers


@pytest.mark.parametrize(
    ("asked", "same", "others"),
    [
        ("QR-750", ["The QR-750 weighs", "qr750", "QR 750,"], ["QR-7500", "QR-75", "XQR-750", "QR-705"]),
        ("QR750", ["the QR-750.", "(QR/750)"], ["QR-7-50", "QR750S"]),
        ("4.10.2", ["4.10.2: fixed", "v4.10.2"], ["4.10.21", "14.10.2", "4.1.02", "4.10.2.1", "4102", "4.2.10"]),
        ("10.20.3.7", ["host 10.20.3.7"], ["10.3.20.7", "110.20.3.7"]),
        ("2021-11-09", ["on 9.11.2021", "9 November 2021", "November 9, 2021", "9. November 2021", "9 novembre 2021"],
         ["2021-09-11", "11.9.2021", "9 November 2022"]),
        ("7 June 2021", ["on 2021-06-07", "7.6.2021", "June 7, 2021", "7 juin 2021"], ["2021-07-06", "June 2021"]),
        ("June 7th, 2021", ["on 2021-06-07", "7.6.2021", "June 7, 2021"], ["2021-07-06", "7 June 2022"]),
        ("88213", ["order 88213"], ["88231", "882133"]),
    ],
)  # fmt: skip
def test_spellings_name_the_same_and_permutations_do_not(asked: str, same: list[str], others: list[str]) -> None:
    (one,) = identifiers(f"What is {asked} about?")

    assert [text for text in same if not one.pattern.search(text)] == []
    assert [text for text in others if one.pattern.search(text)] == []


@pytest.mark.parametrize(
    ("question", "lines", "others"),
    [
        ("section 9.4", ["9.4 Either may", "## 9.4 Notice", "Section 9.4: Notice"], ["see section 9.4", "9.41"]),
        ("§ 14", ["§ 14 Gebühren", "§14 Gebühren"], ["§ 140", "nach § 14"]),
        ("Artikel 5", ["Artikel 5", "Art. 5 Beitrag", "5. Beitrag"], ["Artikel 50", "bis Artikel 5"]),
    ],
)  # fmt: skip
def test_the_number_of_a_section_is_what_stands_at_its_head(question: str, lines: list[str], others: list[str]) -> None:
    (one,) = identifiers(f"What does {question} say?")

    assert [line for line in lines if not one.pattern.search(line)] == []
    assert [line for line in others if one.pattern.search(line)] == []


@pytest.mark.parametrize(
    ("asked", "relative", "other"),
    [
        ("the QR-750", "The QR-700 costs", "The ZR-700 costs"),
        ("the fee of 2019", "Fees of 2018", "Fees of order 8123"),
        ("the vote of 7 June 2021", "Minutes of 14.6.2021", "Minutes of June"),
        ("section 24", "## 12 Notices", "There are 12 notices"),
    ],
)
def test_relatives_are_of_the_same_kind(asked: str, relative: str, other: str) -> None:
    (one,) = identifiers(f"What about {asked}?")

    assert one.has_relative(relative)
    assert not one.has_relative(other)


def test_what_is_left_of_a_question() -> None:
    assert without_identifiers("What does section 9.4 of QR-750 say?").split() == ["What", "does", "of", "say?"]
