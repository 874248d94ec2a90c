"""Configure logging, in this one place.

Flow: `main.py` at start -> **here** -> every logger of the process writes to stderr, as lines for people or as JSON.

Answers and documents are never logged at INFO, nor are questions unless the settings say so. Libraries are heard from
WARNING on, because some of them log pieces of documents at INFO.
"""

import logging
import sys
from typing import Any, Literal

import structlog

HEARD_AT_INFO = ("api", "query_engine", "ingestion", "index")
SHARED: tuple[structlog.typing.Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.stdlib.ExtraAdder(),
)


def configure_logging(form: Literal["console", "json"]) -> None:
    """Send all logging of this process to stderr."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter(form))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in HEARD_AT_INFO:
        logging.getLogger(name).setLevel(logging.INFO)


def formatter(form: Literal["console", "json"]) -> logging.Formatter:
    """Return what makes a line of a record."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if form == "json" else structlog.dev.ConsoleRenderer(colors=False)
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=SHARED,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            renderer,
        ],
    )


def gunicorn_logging() -> dict[str, Any]:
    """Return the `logconfig_dict` by which gunicorn's own lines are JSON as well."""
    handler = {"class": "logging.StreamHandler", "formatter": "generic", "stream": "ext://sys.stderr"}
    return {
        "formatters": {"generic": {"()": "api.logs.formatter", "form": "json"}},
        "handlers": {"console": handler, "error_console": handler},
        "loggers": {"gunicorn.error": {"level": "INFO", "handlers": ["error_console"], "propagate": False}},
    }
