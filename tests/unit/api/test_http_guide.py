"""`docs/http.md` says what is so: routes, fields, statuses, limits."""

import re
from pathlib import Path

from api.app import create_app
from api.errors import HTTP_CODES, STATUS
from api.errors import status_of as status_of_error
from api.jobs.queue import MAX_FINISHED, MAX_QUEUED, Jobs
from api.schemas.requests import IngestBody
from errors import RagError
from settings import Settings
from tests.fakes.engines import FakeEngines
from tests.fakes.ingesting import FakeIngester
from tests.fakes.sources import FakePageAnswers

GUIDE = (Path(__file__).parents[3] / "docs" / "http.md").read_text()


def table(heading: str) -> list[list[str]]:
    """Return the cells of the table that begins with this header cell."""
    lines = GUIDE.split(f"| {heading} |")[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_route_is_in_the_table_and_the_other_way_round() -> None:
    stated = {route for row in table("route") for route in re.findall(r"`((?:GET|POST|PATCH|DELETE) /[^`]*)`", row[0])}
    paths = create_app(FakeEngines({}), Settings(), FakeIngester(), Jobs(), given=FakePageAnswers()).openapi()["paths"]

    assert stated == {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def test_every_field_of_an_ingestion_is_explained_and_no_other() -> None:
    assert {name for row in table("field") for name in re.findall(r"`(\w+)`", row[0])} == set(IngestBody.model_fields)


def test_every_code_stands_beside_its_status() -> None:
    status_of = {code: status for status, (code, _) in HTTP_CODES.items()}
    status_of |= {"invalid_request": 422, "body_too_large": 413, "internal": 500}
    status_of |= STATUS
    kinds: list[type[RagError]] = [RagError]
    for kind in kinds:
        kinds += kind.__subclasses__()
        status_of[kind.code] = status_of_error(kind("Fact.", "Remedy."))

    stated = {code: int(row[0]) for row in table("status") for code in re.findall(r"`(\w+)`", row[1])}

    assert stated
    assert {code: status_of.get(code) for code in stated} == stated


def test_the_limits_are_those_of_the_program() -> None:
    assert f"{MAX_QUEUED} may wait" in GUIDE
    assert f"last {MAX_FINISHED} finished" in GUIDE
