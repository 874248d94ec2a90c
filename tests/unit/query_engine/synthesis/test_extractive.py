"""The quoting synthesizer, over a reader that compares words."""

import math
import re
import threading
from collections.abc import Sequence
from dataclasses import replace

from index.documents.store import Document
from query_engine.reader.reading import LeafReader
from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.extractive import ExtractiveSynthesizer
from tests.fakes.engines import a_passage
from tests.fakes.reading import WordReader, a_leaf_reader
from tests.fakes.words import FakeWords

COMMON = {"the", "what", "is", "of", "a", "how", "does", "who", "did"}


class PlainWords:
    """Terms are lower-case words; every word but the common ones weighs the same."""

    def words_of(self, question: str) -> "PlainWords":  # noqa: ARG002
        return self

    def terms(self, text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    def query_terms(self, question: str) -> list[str]:
        return [term for term in dict.fromkeys(self.terms(question)) if term not in COMMON]

    def weight(self, _term: str) -> float:
        return math.log(10)


def write(question: str, passages: Sequence[Passage], max_words: int = 30, *, words: str = "") -> tuple[str, Citations]:
    synthesizer, citations = ExtractiveSynthesizer(a_leaf_reader(words=words), max_words), Citations()
    return "".join(synthesizer.write(question, passages, citations, threading.Event())), citations


BETZ = a_passage(
    "wind.md",
    "Wind is air that moves. Albert Betz published the limit of a rotor in 1919. Towers are made of steel or concrete.",
)
COOKING = a_passage("cook.md", "Boil the pasta for nine minutes. Drain it well and add the sauce.")


def test_the_sentence_that_holds_the_words_comes_first_with_its_mark() -> None:
    text, _ = write("Who published the limit of a rotor?", [COOKING, BETZ])

    assert text.startswith("Albert Betz published the limit of a rotor in 1919. [1]")


def test_every_quote_is_the_text_at_its_span() -> None:
    _, citations = write("Who published the limit of a rotor?", [BETZ, COOKING])

    assert citations.all()
    for citation in citations.all():
        passage = BETZ if citation.doc_id == "wind.md" else COOKING
        assert passage.text[citation.start - passage.start : citation.end - passage.start] == citation.quote


def test_a_quote_that_goes_on_beyond_its_passage_is_cited_as_it_stands() -> None:
    text = "# Rotor\n\nThe rotor limit is 59 per cent. The rotor limit holds for every rotor. It was found in 1919.\n"
    start = text.index("The rotor limit holds")
    found = replace(a_passage("a.md"), start=start, end=start + 41, text=text[start : start + 41], hits=())
    document = Document("a.md", "", text).structured()
    reader, citations = LeafReader(WordReader(), lambda _: document, FakeWords()), Citations()
    "".join(ExtractiveSynthesizer(reader, 60).write("What is the rotor limit?", [found], citations, threading.Event()))

    assert citations.all()[0].start < start
    for citation in citations.all():
        assert text[citation.start : citation.end] == citation.quote


def test_an_answer_keeps_to_its_length() -> None:
    long = a_passage("long.md", " ".join(f"The rotor limit number {i} was published by somebody." for i in range(20)))
    text, _ = write("Who published the rotor limit?", [long], max_words=20)

    assert len(re.sub(r"\[\d+\]", "", text).split()) <= 20


def test_a_how_question_gets_twice_the_length() -> None:
    long = a_passage("long.md", " ".join(f"The rotor turns in way number {i} here." for i in range(20)))

    short, _ = write("When turns the rotor?", [long], max_words=20)
    double, _ = write("How does the rotor turn?", [long], max_words=20)

    assert len(double.split()) > 1.5 * len(short.split())


def test_no_sentence_is_quoted_twice() -> None:
    twice = [a_passage("a.md", "The rotor limit is 59 per cent."), a_passage("b.md", "The rotor limit is 59 per cent.")]
    text, _ = write("What is the rotor limit?", twice)

    assert text.count("59 per cent") == 1


def test_what_is_said_again_in_nearly_the_same_words_is_left_out_but_other_figures_are_not() -> None:
    again = [
        a_passage("a.md", "To see the rotor limit of a machine, read the plate."),
        a_passage("b.md", "To see the rotor limit of a big machine, read the plate."),
    ]
    figures = a_passage("a.md", "The rotor limit of type 1 is low. The rotor limit of type 2 is low.")

    assert write("What is the rotor limit?", again)[0].count("plate") == 1
    assert write("What is the rotor limit?", [figures])[0].count("low") == 2


def test_the_first_quote_shows_what_is_asked_for_in_bold_and_cites_it_as_it_stands() -> None:
    question = "In which year was the rotor limit published?"
    text, citations = write(question, [BETZ], words="1919")

    assert write(question, [BETZ])[0].startswith("Albert Betz published the limit of a rotor in 1919. [1]")
    assert write(question, [BETZ], words="steel")[0].startswith(
        "Albert Betz published the limit of a rotor in 1919. [1]"
    )
    assert text.startswith("Albert Betz published the limit of a rotor in **1919**. [1]")
    assert citations.all()[0].quote == "Albert Betz published the limit of a rotor in 1919."


def test_a_first_sentence_that_leaves_open_whom_it_is_about_is_led_by_the_title() -> None:
    chopin = replace(a_passage("c.md", "In 1835 he obtained citizenship in France."), title="Frédéric Chopin")
    text, citations = write("When did he obtain citizenship?", [chopin], words="1835")

    assert text == "Frédéric Chopin: In **1835** he obtained citizenship in France. [1]"
    assert citations.all()[0].quote == "In 1835 he obtained citizenship in France."
    assert write("When?", [replace(chopin, title="A very long title " * 3)])[0].startswith("In ")


def test_a_sentence_that_points_back_comes_with_the_one_that_names_the_thing() -> None:
    shed = a_passage("shed.md", "Batteries must not stay in the shed. Charge them in your flat. The shed is locked.")

    assert write("May I charge batteries in my flat?", [shed])[0] == (
        "Batteries must not stay in the shed. Charge them in your flat. [1]"
    )
    assert write("May I charge things in my flat?", [shed])[0] == "Charge them in your flat. [1]"


def test_a_quote_neither_loads_nor_links_anything_and_is_cited_as_it_stands() -> None:
    sentence = "The rotor limit and how it follows from the flow of air is shown here: ![plot](https://a.org/x.png)."
    text, citations = write("What is the rotor limit?", [a_passage("a.md", sentence)])

    assert "![" not in text
    assert "https://" not in text
    assert citations.all()[0].quote == sentence


def test_a_sentence_with_stars_of_its_own_gets_no_others() -> None:
    text, _ = write("When was the rotor limit found?", [a_passage("a.md", "The rotor limit was found in 1919*.")])

    assert text == "The rotor limit was found in 1919*. [1]"


def test_line_breaks_inside_a_sentence_do_not_reach_the_reader() -> None:
    text, citations = write("What is the rotor limit?", [a_passage("a.md", "The rotor limit\nis 59 per cent.")])

    assert text == "The rotor limit is 59 per cent. [1]"
    assert citations.all()[0].quote == "The rotor limit\nis 59 per cent."


def test_questions_in_the_text_are_not_offered_as_answers() -> None:
    text, _ = write("What is the rotor limit?", [a_passage("a.md", "What is the rotor limit? It is 59 per cent.")])

    assert text == "Wind: It is 59 per cent. [1]"


def test_headings_and_labels_are_not_quoted() -> None:
    text, _ = write(
        "What is the rotor limit?", [a_passage("a.md", "# The rotor limit is what\n\nRotor limit table of contents")]
    )

    assert text == ""


def test_a_table_row_with_figures_may_be_quoted() -> None:
    text, _ = write("What is the rotor limit?", [a_passage("a.md", "| rotor limit | 59.3 per cent |")])

    assert text == "rotor limit: 59.3 per cent [1]"


def test_nothing_is_written_without_sentences_or_after_a_stop() -> None:
    stop = threading.Event()
    stop.set()
    synthesizer = ExtractiveSynthesizer(a_leaf_reader(), 30)

    assert write("What is the rotor limit?", [])[0] == ""
    assert write("What is the rotor limit?", [a_passage(text="# Title")])[0] == ""
    assert list(synthesizer.write("Who published it?", [BETZ], Citations(), stop)) == []


def test_the_first_of_several_items_keeps_its_dash() -> None:
    asked = "What are the rotor rules and rotor limits?"
    text, citations = write(asked, [a_passage("a.md", "# Rules\n\n- Rotor rules are old.\n- Rotor limits are new.")])

    assert text == "- Rotor rules are old.\n- Rotor limits are new. [1]"
    assert citations.all()[0].quote == "Rotor rules are old.\n- Rotor limits are new."


PRICES = """# Rental

Bike | Half day | Full day | Deposit
City bike | 12 | 18 | 100
E-bike | 25 | 38 | 300
Cargo bike | 30 | 45 | 400
"""


def test_a_cell_that_ends_in_a_colon_gets_no_second_one() -> None:
    text, _ = write(
        "Who is the landlord?", [a_passage("a.md", "Landlord:   Marrick Estates\nTenant:     Fenn Limited")]
    )

    assert text == "Landlord: Marrick Estates [1]"


def test_of_a_table_only_the_row_that_the_question_names_is_quoted() -> None:
    text, _ = write("How much is the deposit for a cargo bike?", [a_passage("a.md", PRICES)], max_words=60)

    assert text == "Cargo bike, Half day: 30, Full day: 45, Deposit: 400 [1]"


def test_of_a_list_only_the_item_that_has_the_questions_words_is_quoted() -> None:
    expenses = "- Car: 0.42 euros per kilometre\n- Bike: 0.15 euros per kilometre\n- Meals: 16 euros a day"
    text, _ = write("How much per kilometre for a car?", [a_passage("a.md", expenses)], max_words=60)

    assert text == "Car: 0.42 euros per kilometre [1]"


def test_a_row_without_letters_is_named_by_its_column() -> None:
    trams = "Line | First tram | Last tram\n2 | 00:10 | 04:40\n5 | 00:25 | 04:55"

    assert write("When is the last tram of line 5?", [a_passage("a.md", trams)])[0] == (
        "Line: 5, First tram: 00:25, Last tram: 04:55 [1]"
    )


def test_the_sentence_beside_that_gives_the_reason_is_quoted_too() -> None:
    flour = "Rye flour is used for bread. The reason is its bran. Wheat grows in the south."
    edge = "The stone wears away. Therefore the edge overhangs. Ducks swim there."

    assert write("Why is rye flour used for bread?", [a_passage("a.md", flour)])[0] == (
        "Rye flour is used for bread. The reason is its bran. [1]"
    )
    assert write("Why does the edge overhang? overhangs", [a_passage("a.md", edge)])[0] == (
        "The stone wears away. Therefore the edge overhangs. [1]"
    )


def test_the_sentence_before_may_need_the_one_before_it() -> None:
    plant = "Ducks swim. Lake Oss has a plant. It has been larger than Ness since 2011. It turns on the rising tide."

    assert write("Does it turn on the rising tide?", [a_passage("a.md", plant)], 60)[0] == (
        "Lake Oss has a plant. It has been larger than Ness since 2011. It turns on the rising tide. [1]"
    )


def test_the_next_sentence_may_give_the_reason_without_saying_so() -> None:
    vets = "Only one vet may be away in March. These are the weeks of lambing. Ducks swim there."

    assert write("Why may only one vet be away in March?", [a_passage("a.md", vets)])[0] == (
        "Only one vet may be away in March. These are the weeks of lambing. [1]"
    )


def test_the_reason_may_stand_two_sentences_before_what_it_explains() -> None:
    court = "Three slipped, and polish was the cause. It was removed. Court 2 stays closed until May. Tea is at 4."

    assert write("Why is court 2 closed?", [a_passage("a.md", court)], 60)[0] == (
        "Three slipped, and polish was the cause. It was removed. Court 2 stays closed until May. [1]"
    )


def test_a_sentence_that_only_gives_a_name_comes_with_what_it_names() -> None:
    mower = "Robots run by night. The clippings fall. They rot and feed the lawn. This is called mulching. Ducks swim."

    assert write("What is mulching?", [a_passage("a.md", mower)])[0] == (
        "Robots run by night. The clippings fall. They rot and feed the lawn. This is called mulching. [1]"
    )


def test_the_sentence_with_the_figure_wins_over_one_that_shares_more_words() -> None:
    plant = a_passage("a.md", "The Brandt family had its rotor put up in 1936. The machine cost 31,500 euros.")

    assert write("How much did the rotor of the family cost?", [plant])[0].startswith("The machine cost")
    assert not write("Who put up the rotor of the family?", [plant])[0].startswith("The machine cost")


def test_a_pronoun_brings_along_the_sentence_that_says_whom_it_is_about() -> None:
    mill = a_passage("a.md", "A sawmill stood there until 1904. It was never rebuilt. The county bought the land.")

    assert write("Why was the sawmill never rebuilt?", [mill])[0].startswith(
        "A sawmill stood there until 1904. It was never rebuilt."
    )


def test_a_heading_is_that_of_the_sentence_not_of_the_leaf() -> None:
    text = "# Falls\n\n## History\n\nA mill burnt down.\n\n## Visiting\n\nIt is closed in winter."

    assert write("When is it closed in winter?", [a_passage("a.md", text)])[0].startswith("Visiting: It is closed")


def test_of_a_contact_sheet_only_the_record_asked_for_is_quoted() -> None:
    sheet = (
        "Name            Role        Phone\nEdith Marlowe   Manager     ext. 11\nPiet Cornelis   Treasurer   ext. 17"
    )

    assert write("Who is the treasurer?", [a_passage("a.md", sheet)])[0] == (
        "Piet Cornelis, Role: Treasurer, Phone: ext. 17 [1]"
    )


def test_a_list_under_the_heading_that_is_asked_for_wins() -> None:
    steps = "## Steps\n\n1. Lay the oven of clay.\n2. Let the oven dry."
    text = f"# Clay\n\n## Materials\n\n- 60 bricks\n- 2 bales of straw\n\n{steps}"

    answer, _ = write("What materials does it take?", [a_passage("a.md", text)], max_words=60)

    assert answer.startswith("- 60 bricks")


def test_a_list_under_the_heading_that_is_asked_for_is_quoted_whole() -> None:
    text = "# Guide\n\n## Leaving\n\nHand back:\n\n- the 2 keys of leaving\n- 1 telephone\n- 1 coat"

    assert write("What is it before leaving?", [a_passage("a.md", text)])[0].endswith("- 1 telephone\n- 1 coat [1]")


PUMP = a_passage(
    "pump.md",
    "A heat pump works by moving heat from outside. The steps are:\n\n"
    "1. The heat pump evaporates a fluid.\n2. The heat pump presses the fluid.\n3. The fluid of the pump condenses.\n",
)


def test_steps_come_with_the_sentence_that_says_of_what_they_are() -> None:
    text, _ = write("How does the heat pump evaporate and press a fluid, in steps?", [PUMP], max_words=60)

    assert text.startswith("A heat pump works by moving heat from outside. The steps are:\n")
    assert "3. The fluid of the pump condenses." in text


def test_of_steps_that_fill_an_answer_none_is_left_out() -> None:
    others = "".join(f"{n}. Something else entirely happens in this long step of the work.\n" for n in range(2, 15))
    guide = a_passage("claim.md", f"1. Photograph it.\n{others}15. Claim the money back.\n")

    text, _ = write("How do I claim the money back?", [guide])

    assert text.startswith("1. Photograph it.\n2. Something else")
    assert text.endswith("15. Claim the money back. [1]")


LASTING = "{lead}\n\n- Solar panels last 25 years or more.\n- Rain cleans the glass.\n- Dust costs yield.\n"


def test_a_step_that_the_question_describes_is_quoted_alone() -> None:
    steps = "1. Leave the heat low.\n2. Bleed it in autumn.\n3. If a radiator stays cold, turn the valve below it."
    passage = a_passage("heat.md", f"To get the best of it:\n\n{steps}")

    named, whole = (
        write(question, [passage], max_words=60)[0]
        for question in ("How do I help when one radiator stays cold?", "How do I get the best of it in autumn?")
    )

    assert named == "3. If a radiator stays cold, turn the valve below it. [1]"
    assert "1. Leave the heat low.\n2. Bleed it in autumn." in whole


def test_a_row_that_goes_on_from_the_one_above_comes_with_it() -> None:
    table = "| What | Rate |\n|---|---|\n| Each mile up to 10 | 45p |\n| Each mile after that | 25p |\n| Tolls | all |"

    text, _ = write("rate for each mile over 10", [a_passage("miles.md", table)])

    assert text == "| What | Rate |\n|---|---|\n| Each mile up to 10 | 45p |\n| Each mile after that | 25p [1] |"


def test_a_list_whose_heading_names_all_that_is_compared_is_quoted_whole() -> None:
    items = "- Foil: light, the point hits the trunk.\n- Heavy one: the whole body.\n- Sabre: it cuts, above the waist."
    passage = a_passage("club.md", f"# Join us\n\n## Foil or sabre\n\n{items}")

    text, _ = write("What is the difference between foil and sabre?", [passage])

    assert text == f"{items} [1]"


def test_a_bare_yes_comes_with_what_explains_it() -> None:
    passage = a_passage("faq.md", "Yes, but not at once. Three years must pass. Fees are due in May.")

    text, _ = write("Are shares bought back at once?", [passage])

    assert text.startswith("Yes, but not at once. Three years must pass.")


def test_an_item_that_is_a_sentence_needs_no_line_to_lead_it_in() -> None:
    facts = a_passage("panels.md", LASTING.format(lead="The main facts about solar power are these:"))

    text, _ = write("How long do solar panels last?", [facts])

    assert text == "Solar panels last 25 years or more. [1]"


def test_the_line_that_leads_in_stays_where_it_limits_what_follows() -> None:
    rules = a_passage("rules.md", "Do not:\n\n- Charge batteries in the flat overnight.\n- Wash the car in the yard.\n")

    text, _ = write("May I charge batteries in the flat overnight?", [rules])

    assert text.startswith("Do not:\n- Charge batteries")


def test_the_line_that_leads_in_stays_where_it_says_what_an_item_is_about() -> None:
    facts = a_passage("panels.md", LASTING.format(lead="The main facts about panels on ships are these:"))

    text, _ = write("How long do solar panels last on ships?", [facts])

    assert text == "The main facts about panels on ships are these:\n- Solar panels last 25 years or more. [1]"


def test_no_quote_ends_in_a_line_that_leads_in_what_is_not_quoted() -> None:
    steps = "".join(f"{n}. Something else entirely happens in this long step of the work.\n" for n in range(1, 20))
    long = a_passage("wind.md", f"A wind turbine works like a fan in reverse. The turbine works so:\n\n{steps}")

    text, _ = write("How does a wind turbine work?", [long])

    assert text == "A wind turbine works like a fan in reverse. [1]"


BATHS = ["Sauna", *["Pool"] * 5]


def test_a_row_that_is_quoted_already_is_not_quoted_again() -> None:
    paid = "fees guests of this house must have paid daily at our front desk by card or in cash or online"
    numbered = [(what, f"row{n} line{n} item{n} code{n} note{n} mark{n}") for n, what in enumerate(BATHS)]
    rows = "".join(f"| {what} {paid}, {number} | 3 |\n" for what, number in numbered)
    fees = a_passage("fees.md", f"# Fees\n\n| Fee | Euros |\n|---|---|\n{rows}")

    text, _ = write(f"What are all sauna {paid}?", [fees], max_words=20)

    assert text.count("Sauna") == 1


def test_a_heading_that_says_no_stays_with_what_it_denies() -> None:
    policy = a_passage("policy.md", "# Policy\n\n## What is not covered\n\n- Damage to a bicycle by frost.\n- Theft.\n")
    cannot = a_passage("rules.md", "Tenants cannot do any of these:\n\n- Store a bicycle in the hallway.\n- Smoke.\n")

    assert write("Is damage to a bicycle by frost covered?", [policy])[0].startswith("What is not covered:\n\n- Damage")
    assert write("May I store a bicycle in the hallway?", [cannot])[0].startswith("Tenants cannot do any of these:\n")


def test_a_pronoun_that_may_mean_another_is_not_led_by_the_title() -> None:
    text = "Her daughter Irène studied physics in Paris. She won the Nobel Prize in 1935."
    long = f"Her daughter Irène studied physics {'with much diligence and joy ' * 5}in Paris. She won the Nobel Prize."
    short_one, long_one = (replace(a_passage("c.md", one), title="Marie Curie") for one in (text, long))

    assert write("When was the Nobel Prize won?", [short_one])[0] == f"Marie Curie: {text} [1]"
    assert write("When was the Nobel Prize won?", [long_one])[0] == "She won the Nobel Prize. [1]"


def test_bold_needs_the_same_words_at_the_same_place() -> None:
    flat = a_passage("flat.md", "The flat sleeps 12 guests in 2 rooms.")
    elsewhere = a_passage("flat.md", "The barn has 12.\n\nThe flat has beds for 12 guests.")

    assert "**12**" in write("How many guests does the flat sleep?", [flat], words="12 guests")[0]
    assert "**" not in write("How many rooms are there in the flat?", [flat], words="12 guests")[0]
    assert "**" not in write("How many beds for guests has the flat?", [elsewhere], words="12")[0]


def test_a_row_named_in_full_is_quoted_without_another_that_is_named_in_part() -> None:
    table = "Ticket | Price\nFamily of one adult and two children | 22.00\nAdult | 9.50\nDog | 2.00"

    adult, _ = write("What is the fee for an adult?", [a_passage("fees.md", table)], max_words=60)
    family, _ = write("What is the fee for a family of one adult?", [a_passage("fees.md", table)], max_words=60)

    assert "9.50" in adult
    assert "22.00" not in adult
    assert "22.00" in family


def test_a_line_that_leads_in_a_table_or_long_steps_comes_with_them() -> None:
    table = "The fees for guests are:\n\n| Item | Price |\n|---|---|\n| Towel | 3 euros |\n| Locker | 1 euro |\n"
    steps = "".join(f"{n}. {'Something entirely different happens in this step ' * 3}now.\n" for n in range(1, 15))
    keys = a_passage("keys.md", f"To return the keys, follow these steps:\n\n{steps}")

    rows, _ = write("What are the fees for guests?", [a_passage("fees.md", table)], max_words=60)
    whole, _ = write("What is it to return the keys?", [keys])

    head = "| Item | Price |\n|---|---|"
    assert rows == f"The fees for guests are: [1]\n\n{head}\n| Towel | 3 euros |\n| Locker | 1 euro [2] |"
    assert whole.startswith("To return the keys, follow these steps:")
    assert "1. Something" in whole
    assert "14. Something" not in whole


def test_a_documents_own_marks_of_references_are_no_citations() -> None:
    text, citations = write("When was the castle built?", [a_passage("a.md", "The castle was built in 1250.[2]")])

    assert text == "The castle was built in 1250.(2) [1]"
    assert citations.all()[0].quote == "The castle was built in 1250.[2]"


def test_a_line_that_leads_in_a_list_is_no_definition() -> None:
    text = "A black start of the net has three steps:\n\n- Lines first.\n- Then customers.\n\n"
    both = a_passage("a.md", f"{text}A black start is the restart of a network.\n")

    assert write("What is a black start?", [both])[0].startswith("A black start is the restart")
    assert write("What are the steps of a black start?", [both], max_words=60)[0].startswith("A black start of the net")


def test_code_stays_as_it_is() -> None:
    manual = a_passage("m.md", "# Manual\n\n```\nfirst = arguments[1]\n```\n")

    assert "first = arguments[1]" in write("What is first in arguments?", [manual])[0]


def test_another_figure_or_a_denial_is_no_repetition() -> None:
    rents = [
        a_passage("a.md", "The rent for the flat is 900 euros per month."),
        a_passage("b.md", "The rent for the flat is 950 euros per month."),
    ]
    dogs = [
        a_passage("a.md", "Dogs are not allowed in the garden."),
        a_passage("b.md", "Dogs are allowed in the garden."),
    ]

    assert {"900", "950"} <= set(re.findall(r"\d+", write("Tell me about the rent for the flat", rents)[0]))
    assert write("What is it about dogs allowed in the garden?", dogs)[0].count("allowed") == 2


def test_short_items_of_a_list_may_be_quoted() -> None:
    breakfast = a_passage("b.md", "## Breakfast includes\n\n- Fresh bread\n- Cheese and ham\n- Orange juice\n")

    text, _ = write("What does breakfast include? bread cheese juice", [breakfast])

    assert text == "- Fresh bread\n- Cheese and ham\n- Orange juice [1]"


TIERS = "What is the difference between the flex tier and the priority tier?"


def test_of_two_things_that_are_compared_each_is_quoted() -> None:
    flex = a_passage("flex.md", "The flex tier is cheap, and this tier is what many take. Its difference is the price.")
    priority = a_passage("priority.md", "Requests of priority come first. Nothing else is sold.")

    text, _ = write(TIERS, [flex, priority], 60)

    assert "The flex tier is cheap" in text
    assert "Requests of priority come first." in text


def test_one_sentence_that_names_both_things_is_enough() -> None:
    both = a_passage("both.md", "The difference is that the flex tier waits and the priority tier is first.")
    priority = a_passage("priority.md", "Requests of priority come first.")

    assert "Requests of" not in write(TIERS, [both, priority], 60)[0]


def test_of_two_rows_that_are_compared_each_is_quoted_whatever_their_length() -> None:
    glass = "\n\n".join(
        f"item: {name} glass\nsize: A2\nprice: {price}" for name, price in (("Matt", 34), ("Safety", 54), ("Plain", 9))
    )
    question = "What is the difference between matt glass and safety glass?"

    text, citations = write(question, [a_passage("a.csv", glass)], 8)

    head, *rows = text.split("\n|---|---|---|\n")
    assert head == "| item | size | price |"
    assert sorted(rows[0].splitlines()) == ["| Matt glass | A2 | 34 [1] |", "| Safety glass | A2 | 54 [2] |"]
    assert citations.all()[0].quote == "item: Matt glass\nsize: A2\nprice: 34"


def test_a_table_with_a_column_for_each_thing_compared_is_quoted_whole() -> None:
    table = "|  | Twig | Branch | Oak |\n|---|---|---|---|\n| Price | free | £3 | £60 |\n| Trees | 1 | 3 | 9 |"
    passage = a_passage("plans.md", f"Branch and Oak are plans with a difference.\n\n## Plans\n\n{table}")

    text, _ = write("What is the difference between the Branch and the Oak plan?", [passage])

    rows = "| Price | free | £3 | £60 |\n| Trees | 1 | 3 | 9 [1] |"
    assert text.startswith(f"|  | Twig | Branch | Oak |\n|---|---|---|---|\n{rows}\n\n")


def test_the_lines_of_a_record_are_set_apart() -> None:
    row = "item: Matt glass\nnotes: reduces glare.\nsize: A2\nprice: 34"

    text, citations = write(
        "What is the size and price of matt glass?", [a_passage("a.csv", f"{row}\n\nitem: Oak\nsize: A3")]
    )

    assert text == "item: Matt glass; notes: reduces glare. size: A2; price: 34 [1]"
    assert citations.all()[0].quote == row


def test_a_row_of_another_table_needs_as_many_words_of_the_question() -> None:
    first = a_passage("a.md", "| Item | 2019 |\n|---|---|\n| Income tax expense | 401 |\n| Rent | 12 |")
    other = a_passage("b.md", "| Item | 2019 |\n|---|---|\n| Lease expense | 301 |\n| Costs | 3 |")

    text, _ = write("income tax expense of 2019", [first, other], 60)

    assert "Income tax expense" in text
    assert "Lease" not in text


def as_near(passage: Passage, similarity: float) -> Passage:
    return replace(passage, scores={"dense": similarity}, hits=())


def test_another_document_is_quoted_only_if_the_reader_is_as_sure_of_it() -> None:
    first = as_near(a_passage("a.md", "Betz published the rotor limit."), 0.4)
    near, sure = "The rotor turns to the left.", "The limit of a rotor was published in Berlin."

    # Nearer by so much that it is worth about as much as the first.
    doubtful, _ = write("Who published the rotor limit?", [first, as_near(a_passage("b.md", near), 0.79)])
    certain, _ = write("Who published the rotor limit?", [first, as_near(a_passage("b.md", sure), 0.4)])

    assert doubtful == "Betz published the rotor limit. [1]"
    assert certain == f"Betz published the rotor limit. [1] {sure} [2]"


def test_code_is_shown_as_it_stands_between_fences_and_its_mark_stands_below() -> None:
    code = "$ rotor limit --of <blade> --at https://example.org"
    text = f"# Rotor\n\n```\n{code}\n```\n"
    found = replace(a_passage("a.md"), start=0, end=len(text), text=text, hits=())
    document = Document("a.md", "", text).structured()
    reader = LeafReader(WordReader(), lambda _: document, FakeWords())
    synthesizer = ExtractiveSynthesizer(reader, 60)

    written = "".join(synthesizer.write("What is the rotor limit of a blade?", [found], Citations(), threading.Event()))

    assert f"```\n{code}\n```\n\n[1]" in written
