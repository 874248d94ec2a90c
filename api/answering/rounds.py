"""Make the titles in the steps of a research loop links into this service.

Flow: events of an answer -> **here** -> a view. The loop does not know where the service is reached, so its steps link
web addresses alone; of a document without one, the page here is linked.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from api.links import Links
from query_engine.schema.events import Event
from research.schema import RoundStep
from research.steps import round_done


async def with_links(events: AsyncGenerator[Event, None], links: Links) -> AsyncGenerator[Event, None]:
    """Yield the events, with links in the steps that tell a round; closing it closes `events`."""
    async with aclosing(events):
        async for event in events:
            yield round_done(event.round, links.of) if isinstance(event, RoundStep) else event
