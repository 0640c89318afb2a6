"""What other apps and the surfaces may call of compliance."""

from compliance.api.exporting import ExportInfo, find_export_file, read_export, request_export, run_export
from compliance.rules import AuditQuery

__all__ = ["AuditQuery", "ExportInfo", "find_export_file", "read_export", "request_export", "run_export"]
