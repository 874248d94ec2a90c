"""The real application and the real server over an engine that writes slowly: `python tests/e2e/scripted_service.py`.

It writes twenty words a second for `--seconds`, and says on stderr when an answer was given up.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator

from api.app import create_app
from api.jobs.queue import Jobs
from api.logs import configure_logging
from api.security.listen import bind, url_of
from api.server import BACKLOG, exit_on_sigterm, run_server
from errors import run_command
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Event, Step, Token
from settings import FeedbackSettings, ServeSettings, Settings
from tests.fakes.engines import FakeEngine, FakeEngines, a_done
from tests.fakes.ingesting import FakeIngester

PAUSE_S = 0.05


class SlowEngine(FakeEngine):
    """Writes `words` words, with a pause before each."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self._words = words

    async def stream(self, inquiry: Inquiry, gather: object = None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        self.inquiries.append(inquiry)
        written = 0
        try:
            yield Step("search", "**Searching** slowly.")
            yield Step("write", "**Writing** slowly.")
            for written in range(1, self._words + 1):  # noqa: B007  # said in `finally`
                await asyncio.sleep(PAUSE_S)
                yield Token("word ")
            yield a_done(("word " * self._words).strip(), citations=())
        finally:
            sys.stderr.write(f"stream closed after {written} of {self._words} words\n")


def main() -> int:
    """Serve on a free port until a signal comes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--queue", type=int, default=16)
    given = parser.parse_args()
    settings = Settings(
        serve=ServeSettings(slots=given.slots, queue=given.queue), feedback=FeedbackSettings(enabled=False)
    )
    return run_command(lambda: serve(round(given.seconds / PAUSE_S), settings))


def serve(words: int, settings: Settings) -> int:
    """Serve answers of so many words."""
    configure_logging("console")
    exit_on_sigterm()
    with bind(ServeSettings(port=0)) as listener:
        listener.listen(BACKLOG)
        sys.stderr.write(f"scripted service on {url_of(listener)}\n")
        engines = FakeEngines({"default": SlowEngine(words)})
        run_server(create_app(engines, settings, FakeIngester(), Jobs()), listener)
    return 0


if __name__ == "__main__":
    sys.exit(main())
