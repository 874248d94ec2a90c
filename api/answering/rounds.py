"""Make the titles in the steps of a research loop links into this service.

Flow: an event of an answer -> **here** -> a view. The loop does not know where the service is reached, so its steps
link web addresses alone; of a document without one, the page here is linked.
"""

from api.links import Links
from query_engine.schema.events import Event
from research.schema import RoundStep
from research.steps import round_done


def with_links(event: Event, links: Links) -> Event:
    """Return an event; a step that tells a round with links."""
    return round_done(event.round, links.of) if isinstance(event, RoundStep) else event
