from bench.quality.grounding import judge, table
from bench.quality.planted_claims import plant
from eval.cases import Case
from tests.fakes.embedding import WordHashEmbedding

NAMES = ("Amsel", "Birke", "Calla", "Dahlie", "Eibe", "Fichte")
TEXTS = [
    "\n\n".join(
        f"The {name.lower()} valley lies near Mount{name} and was settled by {name} folk around {1500 + 13 * place}. "
        f"Its large mill is built of stone, which many visitors of {name}town admire. "
        f"They harvest {20 + place} tonnes of {name.lower()} fruit during the late summer. "
        f"A narrow road leads from {name}town to the pass. It is closed in winter. Nobody lives there then. "
        f"The old inn has been open since {1700 + 7 * place}. It serves soup."
        for place in range(9 * number, 9 * number + 9)
    )
    for number, name in enumerate(NAMES)
]
CASE = Case(
    id="1",
    question="Who settled the valley?",
    answer="The first people who settled the valley were farmers from the north.",
    reference_context="The valley was first settled by people from the north, who were farmers.",
)


def test_the_same_seed_plants_the_same_sentences_as_many_of_each_sort() -> None:
    planted = plant(TEXTS, [CASE], 18, seed=3)

    assert planted == plant(TEXTS, [CASE], 18, seed=3)
    assert sum(one.supported for one in planted) == sum(not one.supported for one in planted) == 18
    assert "reference answer" in {one.kind for one in planted}


def test_a_planted_sentence_is_new_to_the_passages_unless_it_is_supported() -> None:
    for one in plant(TEXTS, [], 18, seed=3):
        held = any(one.text in passage.text for passage in one.passages)
        assert held == (one.kind == "quoted"), one


def test_the_check_catches_planted_sentences_and_spares_true_ones() -> None:
    fates = judge(plant(TEXTS, [], 18, seed=3), WordHashEmbedding())

    assert sum(fate.right for fate in fates if not fate.planted.supported) >= 16
    assert sum(fate.right for fate in fates if fate.planted.supported) >= 16
    assert "| **all** | unsupported, caught | **all** |" in table({"valleys": fates})
