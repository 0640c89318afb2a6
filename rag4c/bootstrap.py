"""Before Django: services started or found, their addresses and passwords in the environment, and the database brought up to date."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from rag4c.embedded import initdb
from rag4c.embedded.services import Services, start_services
from rag4c.embedded.storage import load_credentials, prepare_root, read_credentials
from rag4c.kernel import env
from rag4c.kernel.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

ROLES: Final = {"owner": "rag4c_owner", "app": "rag4c_app", "system": "rag4c_system"}
SECRETS: Final = ("secret_key", *ROLES.values())


@dataclass(slots=True)
class Platform:
    """Where Postgres and Redis are. services: None when both are given by URLs. admin_dsn: of the superuser, for init-db only."""

    services: Services | None
    admin_dsn: str
    passwords: dict[str, str]

    @property
    def is_owner(self) -> bool:
        """Whether this process started the embedded services and must end them."""
        return self.services is not None and self.services.is_owner

    @property
    def statement(self) -> str:
        """What a person is told at start, may be empty."""
        return self.services.postgres.statement if self.services else ""

    def stop(self) -> None:
        """Ends what this process started."""
        if self.services is not None:
            self.services.stop()


def start_platform() -> Platform:
    """Start, attach to, or take the configured services, and export where they are for this process and its children.

    Raises: DomainError of `start_services`; Invalid("database_url_incomplete") when only one of the two URLs is given.
    """
    home = prepare_root(env.home_dir())
    passwords = load_credentials(home, SECRETS)
    os.environ.setdefault("RAG4C_SECRET_KEY", passwords["secret_key"])
    os.environ.setdefault("RAG4C_MODEL_DIR", str(home / "models"))
    database_url, redis_url = env.read_str("RAG4C_DATABASE_URL"), env.read_str("RAG4C_REDIS_URL")
    if bool(database_url) != bool(redis_url):
        raise Invalid("database_url_incomplete", "Set both RAG4C_DATABASE_URL and RAG4C_REDIS_URL, or neither.")
    if database_url:
        parts = conninfo_to_dict(database_url)
        _export(str(parts.get("host", "127.0.0.1")), int(str(parts.get("port") or 5432)), passwords, redis_url)
        os.environ["RAG4C_DB_NAME"] = str(parts.get("dbname") or "rag4c")
        return Platform(None, make_conninfo(database_url), passwords)
    ports = env.read_int("RAG4C_POSTGRES_PORT") or None, env.read_int("RAG4C_REDIS_PORT") or None
    services = start_services(home, durable=True, postgres_port=ports[0], redis_port=ports[1])
    server = services.postgres
    _export(server.host, server.port, {**passwords, **server.passwords}, services.redis.url())
    return Platform(services, server.dsn("postgres", "postgres"), {**passwords, **server.passwords})


def attach_platform() -> None:
    """For one process of a platform whose services run elsewhere and which `rag4c init-db` has prepared: passwords from RAG4C_HOME into the environment.

    Raises: Invalid("services_unknown") without RAG4C_DB_HOST and RAG4C_BROKER_URL; Unavailable("not_prepared") before `rag4c init-db`.
    """
    if not env.read_str("RAG4C_DB_HOST") or not env.read_str("RAG4C_BROKER_URL"):
        raise Invalid("services_unknown", "Set RAG4C_DB_HOST and RAG4C_BROKER_URL, or start everything with `rag4c up`.")
    known = read_credentials(env.home_dir())
    if any(name not in known for name in SECRETS):
        raise Unavailable("not_prepared", f"Run `rag4c init-db` with the same RAG4C_HOME first ({env.home_dir()}).")
    os.environ.setdefault("RAG4C_SECRET_KEY", known["secret_key"])
    os.environ.setdefault("RAG4C_MODEL_DIR", str(env.home_dir() / "models"))
    for name, role in ROLES.items():
        os.environ.setdefault(f"RAG4C_DB_PASSWORD_{name.upper()}", known[role])


def _export(host: str, port: int, passwords: dict[str, str], broker_url: str) -> None:
    os.environ.update(RAG4C_DB_HOST=host, RAG4C_DB_PORT=str(port), RAG4C_BROKER_URL=broker_url)
    for name, role in ROLES.items():
        os.environ[f"RAG4C_DB_PASSWORD_{name.upper()}"] = passwords[role]


def init_database(platform: Platform) -> None:
    """Roles, database and extension as superuser, then migrations and grants as the owner. Idempotent.

    Raises: DomainError of `initdb.init_database`; Unavailable("migration_failed").
    """
    initdb.init_database(platform.admin_dsn, platform.passwords, env.read_str("RAG4C_DB_NAME"))
    done = subprocess.run(
        [sys.executable, "-m", "rag4c.initialise"], check=False, capture_output=True, text=True, cwd=env.PROJECT_DIR
    )  # our own module
    if done.returncode != 0:
        log = env.home_dir() / "initialise.log"
        log.write_text(done.stderr)
        raise Unavailable("migration_failed", f"The database could not be brought up to date; the reason is at the end of {log}.")


def forget_powers() -> None:
    """Web, workers and beat never see how to log in as owner or superuser."""
    for name in ("RAG4C_DB_PASSWORD_OWNER", "RAG4C_DATABASE_URL"):
        os.environ.pop(name, None)


def convert_model() -> None:
    """The embedding model, converted once; progress goes to the terminal. Raises: Unavailable("model_conversion_failed")."""
    done = subprocess.run(
        [sys.executable, "-m", "rag4c.providers.e5.convert"], check=False, cwd=env.PROJECT_DIR, stdout=subprocess.DEVNULL
    )  # our own module
    if done.returncode != 0:
        raise Unavailable("model_conversion_failed", "The embedding model could not be converted; the reason is printed above.")


def open_django() -> None:
    """Load Django in this process, under the app's login. Raises: DomainError("login_too_powerful")."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rag4c.settings")
    import django

    django.setup()


def write_private(path: Path, value: object) -> None:
    """A 0600 JSON file."""
    path.touch(mode=0o600)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False))
