"""Part numbers, versions and sections over real stores: the named one is found, its neighbour is not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from query_engine.engine import Engine
from tests.fakes.quoting import answered, quoting_engine

TEXTS = {
    "pumps/QR-700.md": "# QR-700\n\nThe pump lifts water by 12 metres.\n",
    "pumps/QR-7000.md": "# QR-7000\n\nThe pump lifts water by 85 metres.\n",
    "fees-2017.md": "# Fees 2017\n\nThe mooring fee is 40 pounds.\n",
    "fees-2019.md": "# Fees 2019\n\nThe mooring fee is 55 pounds.\n",
    "notes.md": "# Notes\n\n## 4.10.2\n\nThe lamp blinks no more.\n\n## 4.2.10\n\nThe clock was put right.\n",
    "diary.md": "# Diary\n\nOn 7 March 2020 the harbour froze.\n\nOn 3 July 2020 the mole was painted.\n",
    "slip.md": "# Slip\n\nBuyer: Okafor\nSlip no.: 31-4408\nDue: 02.09.2021\n",
    "slips.md": "# Slips\n\n- 71-5513 went to Lund.\n- 71-5531 went to Graz.\n",
    "lease.md": "# Lease\n\n8.2 The tenant cleans the gutters.\n\n8.12 The landlord paints the doors.\n",
    "desks.md": "# Desks\n\nDesk 3.17 is for guests.\n\nDesk 3.71 is for Bea.\n\nDesk 7.13 is for Ravi.\n",
    "statute.md": "# Statute\n\n§ 4 Fees\n\nA copy costs two crowns.\n\n"
    "§ 6 Relief\n\nPupils pay nothing.\n\nNor do widows.\n",
    "contract.md": "# Contract\n\n1. Scope. Ferro oils the crane.\n\n2. Fee. It is 90 crowns. It rises in May.\n",
    "board.md": "# Board of 6 May 2020\n\nThe board met in the old hall.\n",
    "vouchers.md": "# Voucher no. 3391\n\nIt is worth 15 crowns.\n",
    "quarters.md": "# Turnover\n\nIn Q1 it was 61 crowns. In Q2 it was 64 crowns.\n",
    "fencing-regulations.md": "# Fencing\n\nA fence needs posts.\n",
    "rules.md": "# Rules\n\n## Article R. 6\n\nBoats are washed ashore.\n\n## Article R. 6-1\n\nNets dry on the mole."
    "\n\n## Article L. 61\n\nDues are paid in March.\n",
    "bylaws.md": "# Bylaws\n\n§ 14 Keys\n\n(1) The warden keeps them.\n\n(2) Lost ones are paid.\n\n"
    "§ 15 Dogs\n\n(1) Dogs are led.\n\n(14) Cats roam.\n",
    "ferry.md": "# Ferry rules\n\n## 25. Loading\n\n25.1 Carts go first.\n\n25.2 Goats go last.\n\n"
    "## 26. Fog\n\nThe bell is rung.\n",
    "deed.md": "# Deed\n\n8.1 The seller leaves the stove.\n\n8.9 The buyer pays the notary.\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with quoting_engine(tmp_path_factory.mktemp("corpus") / "house", TEXTS) as engine:
        yield engine


@pytest.mark.fault("D27")
@pytest.mark.parametrize(
    ("question", "quoted", "others"),
    [
        ("By how many metres does the QR-7000 lift water?", "85 metres", "12 metres"),
        ("By how many metres does the QR700 lift water?", "12 metres", "85 metres"),
        ("What about version 4.10.2?", "The lamp blinks no more", "The clock"),
        ("4.2.10", "The clock was put right", "The lamp"),
        ("What happened on 2020-03-07?", "the harbour froze", "mole"),
        ("What happened on 03.07.2020?", "the mole was painted", "harbour"),
        ("Who is the buyer of slip 31-4408?", "Okafor", "Lund"),
        ("Where did 71-5531 go?", "Graz", "Lund"),
        ("What does clause 8.2 say?", "cleans the gutters", "# Lease"),
        ("What does clause 8.9 of the deed say?", "pays the notary", "gutters"),
        ("Who is at desk 7.13?", "Ravi", "guests"),
        ("Who is desk 3.71 for?", "Bea", "Ravi"),
        ("What does § 6 say?", "Nor do widows", "crowns"),  # a board of 6 May is not its document
        ("Was regelt § 4?", "two crowns", "Pupils"),
        ("Que dit l'article R. 6 ?", "washed ashore", "mole"),
        ("Que dit l'article R. 6-1 ?", "the mole", "ashore"),
        ("article L61", "in March", "ashore"),
        ("What does § 14 say?", "The warden keeps them", "Cats"),
        ("What does § 6 regulate?", "Nor do widows", "fence"),  # not in the regulations of fencing
        ("What does section 2 of the contract say?", "It rises in May", "Ferro"),
        ("What does § 15 say?", "(14) Cats roam", "warden"),
        ("Summarise section 25 of the ferry rules", "Carts go first.\n\n25.2 Goats", "bell"),
        ("What does section 25 say about goats?", "Goats go last", "bell"),
        ("What does 25.2 say?", "Goats go last", "Carts"),
        ("What was the turnover in Q2?", "64 crowns", "Pupils"),
        ("How much is voucher 3391 worth?", "15 crowns", "Pupils"),
    ],
)
async def test_what_is_named_is_quoted(engine: Engine, question: str, quoted: str, others: str) -> None:
    done = await answered(engine, question)

    assert quoted in (done.answer or "")
    assert others not in (done.answer or "")


@pytest.mark.fault("D26")
@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("By how many metres does the QR-750 lift water?", "QR-750"),
        ("How much is voucher 3319 worth?", "3319"),
        ("What was the turnover in Q4?", "Q4"),
    ],
)
async def test_a_neighbour_is_not_quoted_for_what_no_document_names(engine: Engine, question: str, name: str) -> None:
    done = await answered(engine, question)

    assert done.answer is None
    assert name in done.message
    assert done.nearest


async def test_a_number_of_the_askers_own_is_not_one_of_many(engine: Engine) -> None:
    done = await answered(engine, "What is voucher 3391 worth to a person with 4000 crowns?")

    assert not [warning for warning in done.warnings if "4000" in warning.text]


@pytest.mark.parametrize(
    ("question", "name"), [("What was the mooring fee in 2018?", "2018"), ("Who is at desk 1.37?", "1.37")]
)
async def test_a_number_that_no_document_names_is_said(engine: Engine, question: str, name: str) -> None:
    done = await answered(engine, question)

    assert [warning.code for warning in done.warnings if name in warning.text] == ["absent_identifier"]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What was the mooring fee in 2020?", "2020"),  # the diary's year
        ("What does clause 8.9 of the lease say?", "8.9"),
        ("What does section 31 say?", "31"),  # a slip's number begins so
        ("Que dit l'article L. 6 ?", "L. 6"),
        ("What happened on March 9th, 2020?", "March 9th, 2020"),
        ("What happened on 2020-03-09?", "2020-03-09"),
    ],
)
async def test_what_another_document_names_is_not_answered(engine: Engine, question: str, name: str) -> None:
    done = await answered(engine, question)

    assert done.answer is None
    assert name in done.message


GUILD = """Chapter XII – Dues

Section 21 – They are paid in salt

Section 22 – Bakers are free

Chapter XIV – Feasts

Section 21 – A goose is roasted

Section 22 – Music ends at ten

Annex C – Seals are kept dry

A cask lies below
"""


@pytest.mark.parametrize(
    ("question", "quoted", "others"),
    [
        ("What is chapter XIV about?", "goose is roasted\n\nSection 22 – Music ends at ten", "salt"),
        ("What does section 22 of chapter XII say?", "Bakers are free", "Music"),
        ("What does section 22, chapter XIV say?", "Music ends", "Bakers"),
        ("What does annex C say?", "kept dry\n\nA cask lies below", "goose"),
    ],
)
async def test_sections_have_letters_and_stand_in_others(
    tmp_path: Path, question: str, quoted: str, others: str
) -> None:
    with quoting_engine(tmp_path / "house", {"guild.txt": GUILD}) as engine:
        done = await answered(engine, question)

    assert quoted in (done.answer or "")
    assert others not in (done.answer or "")
