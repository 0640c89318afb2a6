"""All addresses: the pages and REST of each app, the admin, the OpenAPI document, and the probes."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from rag4c import openapi, probes

__all__ = ["openapi", "urlpatterns"]  # openapi is imported for its registrations

urlpatterns = [
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include("tenants.urls")),
    path("", include("verification.urls")),
    path("", include("documents.urls")),
    path("", include("approvals.urls")),
    path("api/schema", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/docs", SpectacularSwaggerView.as_view(url_name="api-schema"), name="api-docs"),
    path("healthz", probes.show_health, name="healthz"),
    path("readyz", probes.show_readiness, name="readyz"),
]
