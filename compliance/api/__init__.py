"""What other apps and the surfaces may call of compliance."""

from compliance.api.access import Reading, who_read
from compliance.api.exporting import ExportInfo, find_export_file, read_export, request_export, run_export
from compliance.api.searches import remove_search, save_search
from compliance.api.tasks_centre import TASK_SOURCES, assign_task, claim_task, open_task, release_task, resolve_task, snooze_task
from compliance.rules import AuditQuery

__all__ = [
    "TASK_SOURCES",
    "AuditQuery",
    "ExportInfo",
    "Reading",
    "assign_task",
    "claim_task",
    "find_export_file",
    "open_task",
    "read_export",
    "release_task",
    "remove_search",
    "request_export",
    "resolve_task",
    "run_export",
    "save_search",
    "snooze_task",
    "who_read",
]
