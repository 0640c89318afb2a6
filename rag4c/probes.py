"""/healthz says that the process runs; /readyz that it may serve: database under the app's login, migrations, broker, model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import redis
from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import JsonResponse
from django.views.decorators.http import require_safe
from psycopg_pool import PoolTimeout

from rag4c.kernel.errors import Denied
from rag4c.ledger import api as ledger
from rag4c.providers.e5.card import FOLDER_NAME
from rag4c.providers.folders import default_model_folder
from rag4c.scope.errors import problem
from rag4c.scope.manager import outside_scope
from rag4c.scope.startcheck import check_login

if TYPE_CHECKING:
    from django.http import HttpRequest

OK: Final = "ok"
BROKER_TIMEOUT_S: Final = 2.0


@require_safe
def show_health(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@require_safe
def show_readiness(request: HttpRequest) -> JsonResponse:
    """200, or 503 `not_ready` with the code of each check that failed."""
    checks = run_checks()
    if any(code != OK for code in checks.values()):
        return problem("not_ready", 503, "Not ready to serve; see `checks`.", checks=checks)
    return JsonResponse({"status": "ready", "checks": checks, "metrics": read_metrics()})


def run_checks() -> dict[str, str]:
    """What `/readyz` and `rag4c doctor` look at: check -> `ok` or a code."""
    database, migrations = check_database()
    return {"database": database, "migrations": migrations, "broker": check_broker(), "model": check_model()}


def read_metrics() -> dict[str, float]:
    """How far the seals are behind; figures only, they never make a server unready (GOV-U10)."""
    lag = ledger.read_seal_lag()
    return {
        "seal_lag_s": round(lag.lag_s, 3),
        "seal_waiting_tenants": lag.waiting_tenants,
        "oldest_transaction_s": round(lag.oldest_transaction_s, 3),
        "seal_holder_pid": lag.holder_pid,
    }


def check_sealing() -> str:
    """`ok`, or why seals are late; for `rag4c doctor`."""
    return ledger.read_seal_lag().code


def check_database() -> tuple[str, str]:
    """Codes of the login and of the migrations."""
    try:
        check_login()
        with outside_scope("probe"):
            executor = MigrationExecutor(connection)
            is_behind = bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except Denied as error:
        return error.code, "migrations_unknown"
    except (Error, PoolTimeout):
        return "database_unavailable", "migrations_unknown"
    return OK, "migrations_missing" if is_behind else OK


def check_broker() -> str:
    try:
        with redis.Redis.from_url(settings.CELERY_BROKER_URL, socket_connect_timeout=BROKER_TIMEOUT_S, socket_timeout=BROKER_TIMEOUT_S) as client:
            client.ping()
    except (redis.RedisError, ValueError):  # ValueError: not a redis:// address
        return "broker_unavailable"
    return OK


def check_model() -> str:
    return OK if (default_model_folder() / FOLDER_NAME).is_dir() else "model_missing"
