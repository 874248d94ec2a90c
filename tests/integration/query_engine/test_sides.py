"""Things that a question names side by side, over real stores: each is quoted where no one place has all of them."""

from collections.abc import Iterator

import pytest

from query_engine.engine import Engine
from tests.fakes.quoting import answered, quoting_engine

TEXTS = {
    "ferries/QR-700.md": "# QR-700\n\nThe ferry carries 12 cars.\n",
    "ferries/QR-7000.md": "# QR-7000\n\nThe ferry carries 85 cars.\n",
    "fees-2017.md": "# Fees 2017\n\nThe mooring fee is 40 pounds.\n",
    "fees-2019.md": "# Fees 2019\n\nThe mooring fee is 55 pounds.\n",
    "ash.md": "# Ash plan\n\nThe Ash plan stores 10 pictures.\n",
    "elm.md": "# Elm plan\n\nThe Elm plan stores 90 pictures.\n",
    "rules.md": "# Rules\n\nGuests and members pay the same fare for a lift.\n",
    "hund.md": "# Hund\n\nEin Hund frisst am Tag 300 Gramm.\n",
    "katze.md": "# Katze\n\nEine Katze frisst am Tag 90 Gramm.\n",
    "train.md": "# Train\n\nLe train part du quai 4.\n",
    "bus.md": "# Bus\n\nLe bus part du quai 11.\n",
    "roble.md": "# Roble\n\nLa mesa de roble pesa 31 kilos.\n",
    "pino.md": "# Pino\n\nLa mesa de pino pesa 17 kilos.\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with quoting_engine(tmp_path_factory.mktemp("corpus") / "pairs", TEXTS) as engine:
        yield engine


@pytest.mark.fault("D22")
@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("How many cars does the ferry QR-700 carry, and the QR-7000?", ["12 cars", "85 cars"]),
        ("Compare the mooring fee of 2017 and 2019", ["40 pounds", "55 pounds"]),
        ("Does the Ash plan or the Elm plan store pictures?", ["10 pictures", "90 pictures"]),
        ("ash plan vs elm plan pictures", ["10 pictures", "90 pictures"]),
        ("Was frisst ein Hund oder eine Katze am Tag?", ["300 Gramm", "90 Gramm"]),
        ("De quel quai part le train ou le bus ?", ["quai 4", "quai 11"]),
        ("¿Cuánto pesa la mesa de roble y de pino?", ["31 kilos", "17 kilos"]),
    ],
)
async def test_each_thing_is_quoted(engine: Engine, question: str, quotes: list[str]) -> None:
    done = await answered(engine, question)

    assert [quote for quote in quotes if quote in (done.answer or "")] == quotes
    assert len(done.citations) == len(quotes)


@pytest.mark.parametrize(
    "question",
    [
        "What fare do guests and members pay for a lift?",
        "Which plan or tariff stores 90 pictures?",
        "How many cars and lorries does the ferry QR-7000 carry?",
    ],
)
async def test_what_stands_in_one_place_or_nowhere_is_quoted_once(engine: Engine, question: str) -> None:
    assert len((await answered(engine, question)).citations) == 1
