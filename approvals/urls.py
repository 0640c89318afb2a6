from __future__ import annotations

from django.urls import path

from approvals import views

urlpatterns = [
    path("api/enterprise/approvals", views.Requests.as_view(), name="api-approvals"),
    path("api/enterprise/approvals/<uuid:request_id>", views.read, name="api-approval"),
    path("api/enterprise/approvals/<uuid:request_id>/votes", views.cast, name="api-approval-votes"),
    path("api/enterprise/approvals/<uuid:request_id>/comments", views.comment, name="api-approval-comments"),
    path("api/enterprise/approvals/<uuid:request_id>/cancel", views.cancel, name="api-approval-cancel"),
    path("api/enterprise/approvals/<uuid:request_id>/execute", views.execute, name="api-approval-execute"),
]
