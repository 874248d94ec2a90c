"""Keep documents that lie in a part of the world.

Flow: columns with latitudes and longitudes -> **here** -> fewer rows, in their order.
"""

from collections.abc import Iterator
from typing import Any, Self

from pydantic import model_validator

from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, StepParameters, parameter
from pipelines.state import PipelineState
from pipelines.step import Step
from pipelines.steps.filtering import kept


class GeoBox(Step):
    """Keeps documents in a box."""

    id = "geo_filter"
    name = "Geo box"
    category = "Filtering"
    description = (
        "Keeps documents with at least one place inside a latitude/longitude box; those without a place are left out."
    )
    closed = True

    class Parameters(StepParameters):
        """The box, and where the places stand."""

        south: float = parameter(..., "South", "Lowest latitude, in degrees.", ge=-90, le=90)
        west: float = parameter(
            ..., "West", "Longitude at which the box begins, eastwards, in degrees.", ge=-180, le=180
        )
        north: float = parameter(..., "North", "Highest latitude, in degrees.", ge=-90, le=90)
        east: float = parameter(
            ...,
            "East",
            "Longitude at which the box ends; below `west` if the box crosses the 180th meridian.",
            ge=-180,
            le=180,
        )
        latitude_column: ColumnName = parameter(
            "latitude", "Latitude column", "Column with a latitude, or a list of them.", column="reads"
        )
        longitude_column: ColumnName = parameter(
            "longitude",
            "Longitude column",
            "Column with a longitude, or as many as there are latitudes.",
            column="reads",
        )

        @model_validator(mode="after")
        def _is_a_box(self) -> Self:
            if self.south > self.north:
                raise ValueError(f"south ({self.south:g}) lies north of north ({self.north:g})")
            return self

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Keep the rows with a place inside, borders included."""
        given = self.given
        columns = (state.values(name) for name in (given.latitude_column, given.longitude_column))
        places = [list(_places(*row)) for row in zip(*columns, strict=True)]
        without = sum(not row for row in places)
        if without:
            handler.warn(f"{without} of {state.count} documents have no place and are left out.")
        return kept(state, handler, [any(self._holds(*place) for place in row) for row in places])

    def _holds(self, latitude: float, longitude: float) -> bool:
        given = self.given
        if given.west <= given.east:
            inside = given.west <= longitude <= given.east
        else:
            inside = longitude >= given.west or longitude <= given.east
        return bool(inside and given.south <= latitude <= given.north)


def _places(latitudes: Any, longitudes: Any) -> Iterator[tuple[float, float]]:
    """Yield the places of a row; what is not a place on earth is left out."""
    for latitude, longitude in zip(_numbers(latitudes), _numbers(longitudes), strict=False):
        if latitude is not None and longitude is not None and abs(latitude) <= 90 and abs(longitude) <= 180:
            yield latitude, longitude


def _numbers(value: Any) -> list[float | None]:
    values = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else [value]
    return [_number(one) for one in values]


def _number(value: Any) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
