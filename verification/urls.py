from __future__ import annotations

from django.urls import path

from verification import rest, views

urlpatterns = [
    path("", views.show_start, name="start"),
    path("ask/", views.submit_question, name="ask"),
    path("answers/", views.show_history, name="answers"),
    path("answers/<uuid:answer_id>/", views.show_answer, name="answer"),
    path("answers/<uuid:answer_id>/citations/<int:n>/", views.show_citation, name="citation"),
    path("answers/<uuid:answer_id>/lifeline/", views.show_lifeline, name="lifeline"),
    path("help/", views.show_help, name="help"),
    path("api/query", rest.query, name="api-query"),
    path("api/answers", rest.answers, name="api-answers"),
    path("api/answers/<uuid:answer_id>", rest.answer, name="api-answer"),
    path("api/answers/<uuid:answer_id>/lifeline", rest.lifeline, name="api-lifeline"),
    path("v1/ask", rest.ask_small, name="api-ask-small"),
]
