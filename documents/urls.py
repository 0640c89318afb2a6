from __future__ import annotations

from django.urls import path

from documents import views

urlpatterns = [
    path("api/documents", views.documents, name="api-documents"),
    path("api/sources", views.sources, name="api-sources"),
]
