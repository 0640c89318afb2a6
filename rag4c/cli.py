"""`rag4c …`: thin; every command translates its words and calls an api. Exit codes: 0 done, 1 not as wished, 2 wrong words, 3 refused, 4 unavailable."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from typing import TYPE_CHECKING, Any, Final

from rag4c.commands import access, acl, approvals, asking, audit, information, knowledge, people, services, tenancy
from rag4c.kernel import env
from rag4c.kernel.errors import DomainError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

EPILOG: Final = "Exit codes: 0 done; 1 done, but not as wished (see the output); 2 wrong words; 3 refused, with a code; 4 a service does not answer."
MODULES: Final = (services, tenancy, people, access, knowledge, acl, asking, approvals, audit, information)


def build_parser() -> argparse.ArgumentParser:
    """All commands; each module adds its own."""
    parser = argparse.ArgumentParser(prog="rag4c", description="Ask your own documents and prove every answer.", epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in MODULES:
        module.add_commands(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """The command line's rim: one sentence with the code and the remedy, never a trace."""
    arguments = build_parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0
    except DomainError as error:
        return _tell(arguments, error)
    except Exception as error:  # noqa: BLE001  # the command line's rim: written to a file, then answered in one sentence
        return _tell(arguments, _record_bug(error))


def _record_bug(error: Exception) -> DomainError:
    """A fault of ours: its trace goes to a file, not to the terminal."""
    path = env.home_dir() / "logs" / "error.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(traceback.format_exception(error)))
    return Unavailable("internal", f"Something went wrong on our side ({type(error).__name__}); where is written in {path}.")


def _tell(arguments: Any, error: DomainError) -> int:
    if getattr(arguments, "json", False):
        sys.stdout.write(json.dumps({"code": error.code, "message": error.message, "data": error.data}, default=str) + "\n")
    else:
        sys.stderr.write(f"{error.message or error.code} ({error.code})\n")
    return 4 if isinstance(error, Unavailable) else 3


if __name__ == "__main__":
    sys.exit(main())
