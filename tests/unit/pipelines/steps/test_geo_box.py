"""Documents in a box of degrees."""

from typing import Any

import pytest

from errors import PipelineError
from pipelines.state import PipelineState
from pipelines.steps.geo_box import GeoBox
from tests.fakes.pipelines import a_handler, run_step

AUSTRIA: dict[str, float] = {"south": 46, "west": 9, "north": 49, "east": 17.5}
FIJI: dict[str, float] = {"south": -20, "west": 177, "north": -12, "east": -178}
GRAZ, OSLO, SUVA, TAVEUNI = (47.07, 15.44), (59.91, 10.75), (-18.1, 178.4), (-16.8, -179.9)


def inside(box: dict[str, float], latitudes: list[Any], longitudes: list[Any]) -> tuple[list[int], list[str]]:
    state = PipelineState("q").with_documents(
        {"row": list(range(len(latitudes))), "latitude": latitudes, "longitude": longitudes}, {}
    )
    handler = a_handler()
    return GeoBox(GeoBox.Parameters(**box)).transform(state, handler).values("row"), handler.warnings


@pytest.mark.promise("D18")
def test_numbers_and_borders() -> None:
    found = inside(AUSTRIA, [47.07, 59.91, 46.0, 49.0001, None], [15.44, 10.75, 9.0, 10.0, 15.0])

    assert found == ([0, 2], ["1 of 5 documents have no place and are left out."])


def test_a_document_with_several_places_needs_one_inside() -> None:
    latitudes = [[OSLO[0], GRAZ[0]], [OSLO[0]], [], [47.0, 59.0]]
    longitudes = [[OSLO[1], GRAZ[1]], [OSLO[1]], [], [100.0, 15.0]]

    assert inside(AUSTRIA, latitudes, longitudes)[0] == [0]


def test_numbers_in_text_and_what_is_no_place() -> None:
    found = inside(AUSTRIA, ["47.07", "91", "x", "nan", "59.91, 47.07"], ["15.44", "15", "15", "15", "10.75, 15.44"])

    assert found == ([0, 4], ["3 of 5 documents have no place and are left out."])


def test_a_box_may_cross_the_180th_meridian() -> None:
    places = [SUVA, TAVEUNI, GRAZ, (-18.0, 0.0)]

    assert inside(FIJI, [one[0] for one in places], [one[1] for one in places])[0] == [0, 1]


def test_nothing_inside_is_a_warning() -> None:
    assert inside(AUSTRIA, [OSLO[0]], [OSLO[1]]) == ([], ["No document meets the filter."])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({**AUSTRIA, "south": 50}, r"south \(50\) lies north of north \(49\)"),
        ({**AUSTRIA, "north": 91}, "'north' is not valid"),
        ({**AUSTRIA, "west": -181}, "'west' is not valid"),
        ({**AUSTRIA, "east": "here"}, "'east' is not valid"),
        ({"south": 1, "west": 1, "north": 2}, "'east' is not valid: Field required"),
        ({**AUSTRIA, "sout": 1}, "nearest known one is 'south'"),
        (AUSTRIA, "reads column 'latitude', which no step before it adds"),
    ],
)
def test_what_cannot_work_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(PipelineError, match=told):
        run_step(["Wind."], ("geo_filter", given))
