"""Configure logging, in this one place.

Flow: `main.py` at start -> **here** -> every logger of the process writes to stderr, as lines for people or as JSON.

Questions, answers and documents are never logged at INFO. Libraries are heard from WARNING on, because some of them log
pieces of documents at INFO.
"""

import logging
import sys
from typing import Literal

import structlog

ACCESS = "uvicorn.access"
HEARD_AT_INFO = ("api", "query_engine", "ingestion", "index", ACCESS)


def configure_logging(form: Literal["console", "json"]) -> None:
    """Send all logging of this process to stderr."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(),
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if form == "json" else structlog.dev.ConsoleRenderer(colors=False)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            renderer,
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in HEARD_AT_INFO:
        logging.getLogger(name).setLevel(logging.INFO)
    logging.getLogger(ACCESS).addFilter(without_query)


def without_query(record: logging.LogRecord) -> bool:
    """Cut the query off the address of a logged request: it may hold a question, or the id of a chat."""
    if isinstance(record.args, tuple):
        record.args = tuple(one.partition("?")[0] if isinstance(one, str) else one for one in record.args)
    return True
