"""Names of documents are told from what is asked of them, and only they are taken out of a question."""

import pytest

from index.documents.store import Document
from query_engine.question.document_names import WithoutNames, without_document_names

LEASE = Document(
    "halden_yard_lease.txt",
    "Extract from lease",
    "EXTRACT FROM LEASE\n\nProperty: Unit 6, Halden Yard, Brixby\nTenant: Fenn & Daughter Limited\n\n"
    "7.1 The Tenant must keep the inside of the Unit in good repair, and all doors of the Unit.\n"
    "7.2 The Landlord is responsible for the roof of the Unit and of the yard. The Unit may not be sublet.",
)
MUSEUM = Document(
    "tramway_visit.html",
    "Plan your visit | Ellerby Tramway Museum",
    "Ellerby Tramway Museum\n\nThe museum is open every day in August. A tramway ticket lets you ride all day. "
    "The museum's own trams leave from the gate.",
)
STUDY = Document(
    "reminders.txt",
    "The wording of reminders",
    "THE WORDING OF REMINDERS\n\nTessaly Dental Service\n\nA missed appointment was one without a notice. Patients of "
    "the service got a text message.",
)
NORMANS = Document(
    "Normans.txt",
    "Normans",
    "The Normans came to Normandy. The Normans spoke a dialect of French. The Normans exported horses. The Normans "
    "built castles. The Normans were vassals.",
)
MOWERS = Document("mowbert.md", "MowBert 450", "The MowBert 450 mows lawns of up to an acre. It charges by itself.")


def asked(question: str, *documents: Document) -> str | None:
    found = without_document_names(question, documents)
    return found.question if found else None


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Which repairs is the landlord responsible for at Unit 6, Halden Yard?",
         "Which repairs is the landlord responsible for?"),
        ("Who pays for the roof of Unit 6 at Halden Yard?", "Who pays for the roof?"),
        ("How does the tenant of Halden Yard ask for consent?", "How does the tenant ask for consent?"),
        ("May the firm of Fenn & Daughter sublet?", "May the firm sublet?"),
        ("Did the tenant of Halden Yard sign the agreement?", "Did the tenant sign the agreement?"),
        ("The roof leaks. Who pays at Halden Yard?", "The roof leaks. Who pays?"),
        ("Where is the .env file for Halden Yard?", "Where is the .env file?"),
        ("Who repairs the roof at Halden Yard, and who paints it at Halden Yard?",
         "Who repairs the roof, and who paints it?"),
        ("Who repairs the roof at halden yard when I ask", "Who repairs the roof when I ask"),
        ("At Halden Yard, who paints the doors?", "who paints the doors?"),
        ("What are Halden Yard's rules on noise?", "What are rules on noise?"),
        ("who repairs the roof at halden yard", "who repairs the roof"),
        ("How noisy is the Halden in summer?", "How noisy is in summer?"),
    ],
)  # fmt: skip
def test_a_name_goes_with_the_words_that_lead_to_it(question: str, left: str) -> None:
    assert asked(question, LEASE) == left


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("How much is parking at Ellerby Tramway Museum?", "How much is parking?"),
        ("What does the Ellerby Tramway Museum sell?", "What does the museum sell?"),
        ("Which trams run at the Ellerby museum in August?", "Which trams run at the museum in August?"),
        ("Do our trams stop at the Ellerby Tramway Museum?", "Do our trams stop?"),
    ],
)
def test_the_noun_of_a_name_stands_for_it_where_the_sentence_needs_one(question: str, left: str) -> None:
    assert asked(question, MUSEUM) == left


def test_the_kind_of_a_document_goes_with_its_name() -> None:
    question = "What counted as missed in the Tessaly dental text message study?"

    assert asked(question, STUDY) == "What counted as missed?"
    assert asked("What counted as missed, according to the Tessaly study?", STUDY) == "What counted as missed?"


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("What did the Normans export?", NORMANS),  # the sentences that answer name them
        ("How do trams work?", MUSEUM),
        ("What may the tenant sublet?", LEASE),  # written with a capital, but on every line
        ("What is Ellerby Tramway Museum?", MUSEUM),  # nothing is left
        ("Where is Halden Yard?", LEASE),
        ("Extract", LEASE),
        ("What does the MowBert 800 cost?", MOWERS),  # another one than the document's
        ("What does the Ellerby Model Museum show?", MUSEUM),
        ("Did Fenn & Daughter sign?", LEASE),  # they are parties, not its name
        ("Is the property in Brixby?", LEASE),
        ("How far is it from Halden Yard to Brixby?", LEASE),
        ("Who repairs the roof? " * 20 + "At Halden Yard?", LEASE),
        ("", MUSEUM),
    ],
)
def test_what_is_asked_for_is_no_name(question: str, document: Document) -> None:
    assert without_document_names(question, [document]) is None


def test_months_and_days_are_no_names() -> None:
    minutes = Document("minutes.md", "Minutes of March", "Minutes of March\n\nThe board met on a Monday.")

    assert without_document_names("What was decided at the meeting in March?", [minutes]) is None
    assert without_document_names("How many came in March 2025?", [Document("a.md", "March 2025", "Few came.")]) is None


def test_prose_at_the_top_is_no_header() -> None:
    insects = Document(
        "Insect.txt",
        "Insect",
        "Insects are a class of animals whose body has three parts and six legs; their name comes from Latin, in which "
        "it means cut into, and from a Greek word that it translates.\n\nThey lay eggs.",
    )

    assert without_document_names("Who introduced the Latin word for these animals?", [insects]) is None


def test_the_document_that_is_named_most_fully_is_meant_and_all_that_have_its_names() -> None:
    rules = Document("rules.md", "House rules", "House rules\n\nThese rules hold for Halden Yard. Doors are locked.")

    found = without_document_names("Who locks the doors at Halden Yard?", [MUSEUM, LEASE, rules])

    assert found == WithoutNames(
        "Who locks the doors?", ("Halden Yard",), frozenset({"halden_yard_lease.txt", "rules.md"})
    )
    assert without_document_names("Who locks the doors at Halden Yard?", []) is None


def test_of_two_leases_the_one_with_the_number_is_meant() -> None:
    other = Document(
        "unit_4.txt",
        "Lease of Unit 4",
        "Lease of Unit 4, Halden Yard\n\nSigned on 16 March.\n\nThe tenant repairs the roof.",
    )

    found = without_document_names("Who repairs the roof at Unit 6, Halden Yard?", [other, LEASE])

    assert found
    assert found.documents == {"halden_yard_lease.txt"}


def test_a_question_that_names_two_documents_keeps_their_names() -> None:
    oakham = Document("oakham.txt", "Lease of Oakham Mill", "Lease of Oakham Mill\n\nThe rent is 500 pounds a month.")

    assert without_document_names("Is the rent higher at Halden Yard or at Oakham Mill?", [LEASE, oakham]) is None


def test_names_that_a_text_repeats_in_any_spelling_stay() -> None:
    shop = Document("shop.md", "Marks & Spencer", "Marks & Spencer\n\n" + "Marks & Spencer sold coats. " * 5)
    database = Document("db.md", "PostgreSQL", "PostgreSQL\n\n" + "PostgreSQL is installed with apt. " * 5)

    assert without_document_names("What did they sell at Marks & Spencer?", [shop]) is None
    assert without_document_names("Which packages are installed for PostgreSQL?", [database]) is None


def test_rows_of_tables_are_no_names() -> None:
    people = Document("people.csv", "people", "name | city\n\nname: Anna Berg\ncity: Oslo", content_type="csv")

    assert without_document_names("Which city is named for Anna Berg?", [people]) is None


def test_a_question_in_title_case_does_not_tell_names_by_its_capitals() -> None:
    assert asked("What Does The Museum Sell In August", MUSEUM) is None
    assert asked("Who Repairs The Roof At Halden Yard", LEASE) == "Who Repairs The Roof"
