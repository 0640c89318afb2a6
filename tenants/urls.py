from __future__ import annotations

from django.urls import path

from tenants import views

urlpatterns = [
    path("t/", views.choose_tenant, name="choose-tenant"),
    path("t/<slug:slug>/login/", views.show_login, name="log-in"),
    path("support/end/", views.end_acting, name="end-acting"),
    path("logout/", views.end_session, name="log-out"),
]
