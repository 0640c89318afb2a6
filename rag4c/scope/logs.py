"""structlog over the standard library: event names and ids, one line each, on standard error."""

from __future__ import annotations

import logging
from typing import Any, cast

import structlog


def configure_logging(level: str) -> None:
    """For every process. Traces are plain: structlog's own default prints local variables where it can, and those hold what people asked."""
    logging.basicConfig(level=level, format="%(message)s", force=True)
    logging.getLogger("django.request").setLevel(logging.ERROR)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            cast("Any", structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"])),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
