"""The one family of errors. Code decides, message explains; nobody matches on message text."""

from __future__ import annotations

from typing import Any, ClassVar


class DomainError(Exception):
    """A fault with a stable code, a sentence for people, and ids for machines.

    Args: code: snake_case, stable. message: one sentence that says what to do. data: ids, numbers and codes, never content.
    """

    status: ClassVar[int] = 400

    def __init__(self, code: str, message: str = "", data: dict[str, Any] | None = None) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code, self.message, self.data = code, message, data or {}


class Invalid(DomainError):
    """The input cannot be accepted as it is (400)."""

    status = 400


class Denied(DomainError):
    """The actor may know of the thing, but may not do this (403)."""

    status = 403


class Absent(DomainError):
    """Not there, or not for this reader: the two are never told apart (404)."""

    status = 404


class Conflict(DomainError):
    """The state or revision is another than expected; nothing was changed (409)."""

    status = 409


class Blocked(Conflict):
    """A guarded action has no policy row or needs an approval that is not there (409)."""


class Unavailable(DomainError):
    """Something we depend on does not answer; trying again may help (503)."""

    status = 503


class PipelineError(DomainError):
    """A step of the ingest machine failed for one document."""


class Permanent(PipelineError):
    """The same input will fail again: the document goes to `error` with this code."""

    status = 422


class Transient(PipelineError):
    """Another attempt may succeed: the step is tried again, up to the policy's attempts."""

    status = 503
