"""One settings file; the environment is read through kernel/env.py only."""

from __future__ import annotations

import secrets
from typing import Any

import django_stubs_ext
from celery.schedules import schedule

from rag4c.kernel import env
from rag4c.unfold_settings import UNFOLD as UNFOLD

django_stubs_ext.monkeypatch()  # ModelAdmin[X], ModelForm[X] at run time

BASE_DIR = env.PROJECT_DIR
HOME_DIR = env.home_dir()
SECRET_KEY = env.read_str("RAG4C_SECRET_KEY") or secrets.token_urlsafe(48)  # without the start-up no two processes share sessions
DEBUG = False
ALLOWED_HOSTS = env.read_str("RAG4C_ALLOWED_HOSTS").split(",")

# One alias. Which login it uses is decided by the process: manage.py and `rag4c init-db` take the owner for DDL, beat the system role.
DB_ROLE = env.read_str("RAG4C_DB_ROLE")
_POOL: dict[str, Any] = {"pool": {"min_size": 0, "max_size": env.read_int("RAG4C_POOL_SIZE"), "timeout": 10}} if DB_ROLE == "app" else {}
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": env.read_str("RAG4C_DB_HOST"),
        "PORT": env.read_str("RAG4C_DB_PORT"),
        "NAME": env.read_str("RAG4C_DB_NAME"),
        "USER": f"rag4c_{DB_ROLE}",
        "PASSWORD": env.read_str(f"RAG4C_DB_PASSWORD_{DB_ROLE.upper()}"),
        "CONN_MAX_AGE": 0,
        "OPTIONS": _POOL,
        "TEST": {"MIGRATE": False},
    },
}

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",  # not "unfold": its default config replaces admin.site and default_site is ignored
    "rag4c.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_celery_beat",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rag4c.scope.apps.ScopeConfig",
    "rag4c.ledger.apps.LedgerConfig",
    "tenants",
    "approvals",
    "documents",
    "retrieval",
    "verification",
    "compliance",
    "rag4c.apps.WiringConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "rag4c.scope.middleware.RequestRimMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "tenants.middleware.ActorMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "rag4c.urls"
ASGI_APPLICATION = "rag4c.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
AUTH_USER_MODEL = "tenants.User"
AUTHENTICATION_BACKENDS = ["tenants.auth.TenantBackend"]
SESSION_ENGINE = "tenants.sessions"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.read_bool("RAG4C_SECURE_COOKIES")
CSRF_FAILURE_VIEW = "rag4c.scope.errors.csrf_failure"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SILENCED_SYSTEM_CHECKS = [
    "auth.W004",  # username is unique per tenant
    "admin.E408",  # our own middleware instead of AuthenticationMiddleware
]
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
LOGIN_URL = "/"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

USE_TZ = True
TIME_ZONE = "UTC"  # the default is America/Chicago, and Celery's logs follow it
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "中文")]
LOCALE_PATHS = [BASE_DIR / "rag4c" / "locale"]

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "rag4c" / "static"]
STATIC_ROOT = HOME_DIR / "static"
WHITENOISE_USE_FINDERS = True  # also without collectstatic; files are small and few
MEDIA_ROOT = HOME_DIR / "blobs"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(MEDIA_ROOT)}},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
CHECKPOINT_DIR = env.read_str("RAG4C_CHECKPOINT_DIR") or str(HOME_DIR / "checkpoints")
if CHECKPOINT_DIR != "off":  # any storage that is not this database's disk is better still (GOV-U8)
    STORAGES["checkpoints"] = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": CHECKPOINT_DIR}}
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
EXPORT_DIR = HOME_DIR / "exports"  # finished and half-written audit exports, by tenant
VIEW_CACHE_DIR = HOME_DIR / "views"  # memory-mapped projections; rebuilt from Postgres when absent

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["tenants.auth.TokenAuthentication", "tenants.auth.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "rag4c.scope.errors.problem_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "RAG4C",
    "DESCRIPTION": "Ask your own documents and prove every answer.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "COMPONENT_SPLIT_REQUEST": True,
}

CELERY_BROKER_URL = env.read_str("RAG4C_BROKER_URL")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TIMEZONE = "UTC"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 900}
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep-deliveries": {"task": "rag4c.ledger.tasks.sweep_deliveries", "schedule": schedule(15.0), "options": {"queue": "system"}},
    "sweep-approvals": {"task": "approvals.tasks.sweep_approvals", "schedule": schedule(15.0), "options": {"queue": "system"}},
    "seal-events": {"task": "rag4c.ledger.tasks.seal_events", "schedule": schedule(5.0), "options": {"queue": "system"}},
    "sweep-jobs": {"task": "documents.tasks.sweep_jobs", "schedule": schedule(15.0), "options": {"queue": "system"}},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": env.read_str("RAG4C_LOG_LEVEL")},
    "loggers": {"django.request": {"level": "ERROR"}, "httpx": {"level": "WARNING"}},
}
