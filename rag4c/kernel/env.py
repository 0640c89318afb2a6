"""The environment, typed: every variable is declared here once, with its range and what it is for. `rag4c config` prints this list."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rag4c.kernel.errors import Invalid

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off", ""})
_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")
PROJECT_DIR: Final = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable. kind: str, int, bool, path or secret (masked when shown)."""

    name: str
    kind: str
    default: str
    help: str
    low: int | None = None
    high: int | None = None


VARIABLES: Final[tuple[Variable, ...]] = (
    Variable("RAG4C_HOME", "path", str(PROJECT_DIR / ".local"), "Folder of everything that is written: embedded data, blobs, models, logs."),
    Variable("RAG4C_DATABASE_URL", "secret", "", "postgresql://superuser:…@host/db to use instead of the embedded Postgres."),
    Variable("RAG4C_REDIS_URL", "secret", "", "redis://… to use instead of the embedded Redis."),
    Variable("RAG4C_POSTGRES_PORT", "int", "0", "Loopback port of the embedded Postgres; 0 takes a socket in the data folder.", 0, 65535),
    Variable("RAG4C_REDIS_PORT", "int", "0", "Loopback port of the embedded Redis; 0 takes a free one.", 0, 65535),
    Variable("RAG4C_HOST", "str", "127.0.0.1", "Address that the web server binds."),
    Variable("RAG4C_PORT", "int", "8080", "Port that the web server binds; 0 takes a free one.", 0, 65535),
    Variable("RAG4C_ALLOWED_HOSTS", "str", "localhost,127.0.0.1,[::1]", "Comma-separated host names that the web server answers to."),
    Variable("RAG4C_SECURE_COOKIES", "bool", "0", "1 behind TLS: cookies are sent over https only."),
    Variable("RAG4C_WORKERS", "int", "2", "Celery worker processes.", 1, 64),
    Variable("RAG4C_POOL_SIZE", "int", "8", "Database connections a process may hold.", 1, 100),
    Variable("RAG4C_MODEL_DIR", "path", "", "Folder of the converted embedding model; default RAG4C_HOME/models."),
    Variable("RAG4C_EMBEDDER", "str", "e5-small", "Registry name of the embedding model."),
    Variable("RAG4C_TENANT", "str", "demo", "Tenant that the command line works in, by its slug."),
    Variable("RAG4C_LOG_LEVEL", "str", "INFO", "DEBUG, INFO, WARNING or ERROR."),
    Variable("RAG4C_FAILPOINTS", "str", "", "Tests only: name=kill|raise|sleep|dropconn[@pass],… (see kernel/failpoints.py)."),
    Variable("RAG4C_FAILPOINT_DIR", "path", "", "Tests only: folder that remembers which failpoints have fired, across processes."),
    Variable(
        "RAG4C_CHECKPOINT_DIR", "str", "", "Folder of signed checkpoints, best on another disk; default RAG4C_HOME/checkpoints, `off` for none."
    ),
    Variable("RAG4C_CHECKPOINT_SEALS", "int", "1000", "A checkpoint is signed after so many seals …", 1, 1_000_000),
    Variable("RAG4C_CHECKPOINT_MINUTES", "int", "15", "… or when a seal has waited so long for one.", 1, 10_080),
    Variable("RAG4C_SECRET_KEY", "secret", "", "Signing key of sessions; made at first start when not given."),
    Variable("RAG4C_DB_ROLE", "str", "app", "Login of this process: app, system or owner (owner for migrations only)."),
    Variable("RAG4C_DB_HOST", "str", "", "Set by the start-up: where Postgres listens."),
    Variable("RAG4C_DB_PORT", "int", "5432", "Set by the start-up.", 1, 65535),
    Variable("RAG4C_DB_NAME", "str", "rag4c", "Database name."),
    Variable("RAG4C_DB_PASSWORD_APP", "secret", "", "Set by the start-up, or by hand for an outside Postgres."),
    Variable("RAG4C_DB_PASSWORD_OWNER", "secret", "", "As above; only for migrations and `rag4c maintain`."),
    Variable("RAG4C_DB_PASSWORD_SYSTEM", "secret", "", "As above; only for beat."),
    Variable("RAG4C_BROKER_URL", "secret", "", "Set by the start-up: Redis as Celery sees it."),
)
_BY_NAME: Final = {variable.name: variable for variable in VARIABLES}


def read_str(name: str) -> str:
    """The value of a declared variable, or its default. Raises: KeyError for an undeclared name (a bug, not a setting)."""
    return os.environ.get(name) or _BY_NAME[name].default


def read_int(name: str) -> int:
    """A whole number in the declared range. Raises: Invalid("setting_invalid")."""
    variable, text = _BY_NAME[name], read_str(name)
    low, high = variable.low, variable.high
    if not _WHOLE.fullmatch(text) or (low is not None and int(text) < low) or (high is not None and int(text) > high):
        raise Invalid("setting_invalid", f"{name} must be a whole number from {low} to {high}.", {"name": name})
    return int(text)


def read_bool(name: str) -> bool:
    """1/true/yes/on or 0/false/no/off. Raises: Invalid("setting_invalid")."""
    text = read_str(name).lower()
    if text not in _TRUE | _FALSE:
        raise Invalid("setting_invalid", f"{name} must be 1 or 0.", {"name": name})
    return text in _TRUE


def read_path(name: str) -> Path | None:
    """An absolute path, or None when neither set nor defaulted."""
    text = read_str(name)
    return Path(text).expanduser().absolute() if text else None


def home_dir() -> Path:
    """RAG4C_HOME, absolute."""
    return Path(read_str("RAG4C_HOME")).expanduser().absolute()


def describe() -> list[dict[str, str]]:
    """All variables with their current values, secrets masked: rows of name, value, source (`set` or `default`), help."""
    rows = []
    for variable in VARIABLES:
        value = read_str(variable.name)
        shown = "********" if variable.kind == "secret" and value else value
        rows.append({"name": variable.name, "value": shown, "source": "set" if os.environ.get(variable.name) else "default", "help": variable.help})
    return rows
