"""structlog over the standard library: event names and ids, one line each."""

from __future__ import annotations

import logging
from typing import Any, cast

import structlog


def configure_logging(level: str) -> None:
    logging.basicConfig(level=level, format="%(message)s", force=True)
    logging.getLogger("django.request").setLevel(logging.ERROR)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            cast("Any", structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"])),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        cache_logger_on_first_use=True,
    )
