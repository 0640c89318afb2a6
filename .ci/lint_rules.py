"""House rules that ruff cannot check, over the syntax trees: `python .ci/lint_rules.py`. Prints file:line: code message; exit code 1 if any."""

# scripts, not a package
from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("rag4c", "tenants", "approvals", "documents", "retrieval", "verification", "evaluation", "compliance")
APPS: Final = frozenset(PACKAGES) - {"rag4c"}
MAX_FUNCTION_LINES: Final = 40
MAX_FILE_LINES: Final = 400
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

# The outermost rims: a task's step, a request, a command. Each records or answers.
BROAD_EXCEPT_RIMS: Final = frozenset({"documents/api/steps.py", "rag4c/scope/middleware.py", "rag4c/cli.py"})
# Who may connect to Django's or Celery's signals, and why.
SIGNAL_FILES: Final = {
    "rag4c/scope/manager.py": "the SQL wall is put on each new connection",
    "rag4c/celery.py": "a forked worker forgets the parent's pool; logging is ours",
}
# Wall clock, random numbers and ids have one door each.
CLOCK_FILES: Final = frozenset({"rag4c/kernel/clock.py"})
BANNED_NAMES: Final = {
    "datetime.now": "use kernel.clock.now()",
    "datetime.utcnow": "use kernel.clock.now()",
    "date.today": "use kernel.clock.now()",
    "timezone.now": "use kernel.clock.now()",
    "time.time": "use kernel.clock.now()",
    "uuid.uuid4": "use scope.models.new_id()",
    "uuid.uuid1": "use scope.models.new_id()",
    "uuid4": "use scope.models.new_id()",
}
BANNED_MODULES: Final = {"random": "randomness is seeded and passed in"}
SIGNAL_MODULES: Final = ("django.dispatch", "django.db.models.signals", "django.core.signals", "django.db.backends.signals", "celery.signals")
WRITES: Final = frozenset({"create", "bulk_create", "update", "bulk_update", "delete", "get_or_create", "update_or_create", "save"})
ACTING_ARGUMENTS: Final = frozenset({"actor", "tenant_id", "grant", "claim", "outcome"})


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed file. path: relative to the root, with slashes."""

    path: str
    text: str
    tree: ast.Module

    @property
    def app(self) -> str:
        return self.path.split("/", 1)[0]

    @property
    def is_api(self) -> bool:
        """Whether this is the public door of an app."""
        return self.path.endswith("/api.py") or "/api/" in self.path


@dataclass(frozen=True, slots=True)
class Problem:
    """One breach of a rule."""

    path: str
    line: int
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code} {self.message}"


def read_sources(root: Path = ROOT) -> list[Source]:
    """Every module of the product; migrations have rules of their own."""
    paths = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py") if "migrations" not in path.parts)
    return [parse_source(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def parse_source(path: str, text: str) -> Source:
    """A file from its text."""
    return Source(path, text, ast.parse(text))


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a name or attribute chain, else an empty text."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr}" if left else ""
    return ""


def functions_of(tree: ast.AST) -> Iterator[FunctionNode]:
    """All functions, methods and nested ones."""
    return (node for node in ast.walk(tree) if isinstance(node, FunctionNode))


def public_functions(source: Source) -> list[FunctionNode]:
    """Module functions of an api file that `__all__` names, or without one, that have no underscore."""
    exported: set[str] | None = None
    for node in source.tree.body:
        if isinstance(node, ast.Assign) and any(dotted(target) == "__all__" for target in node.targets):
            exported = set(ast.literal_eval(node.value))
    found = [node for node in source.tree.body if isinstance(node, FunctionNode) and not node.name.startswith("_")]
    return found if exported is None else [node for node in found if node.name in exported]


def is_write(node: ast.AST) -> bool:
    """A call of the ORM's writing methods on something that was reached through `objects`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITES):
        return False
    return any(isinstance(part, ast.Attribute) and part.attr in {"objects", "_base_manager"} for part in ast.walk(node.func.value))


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 1))


def own_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a function without those of the functions inside it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, FunctionNode | ast.Lambda | ast.ClassDef):
            todo.extend(ast.iter_child_nodes(node))


def check_sizes(source: Source) -> Iterator[Problem]:
    """Style rule 18."""
    lines = source.text.count("\n")
    if lines > MAX_FILE_LINES:
        yield Problem(source.path, 1, "file-too-long", f"{lines} lines, {MAX_FILE_LINES} allowed")
    for function in functions_of(source.tree):
        size = (function.end_lineno or function.lineno) - function.lineno + 1
        if size > MAX_FUNCTION_LINES:
            yield Problem(source.path, function.lineno, "function-too-long", f"{function.name} has {size} lines, {MAX_FUNCTION_LINES} allowed")


def check_objects_all(source: Source) -> Iterator[Problem]:
    """Style rule 7."""
    if source.path.startswith("rag4c/ledger/"):
        return
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "all"
            and dotted(node.func.value).endswith(".objects")
        ):
            yield Problem(source.path, node.lineno, "objects-all", "read through visible_to(grant) or a filter")


def check_broad_except(source: Source) -> Iterator[Problem]:
    """Style rule 8."""
    if source.path in BROAD_EXCEPT_RIMS:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler) and not _raises_again(node):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(kind is None or dotted(kind) in {"Exception", "BaseException"} for kind in caught):
                yield Problem(source.path, node.lineno, "broad-except", "only the outermost rims catch everything")


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Cleaning up and passing the error on hides nothing."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def check_signals(source: Source) -> Iterator[Problem]:
    """Style rule 10."""
    if source.path in SIGNAL_FILES:
        return
    for node in ast.walk(source.tree):
        modules = (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names] if isinstance(node, ast.Import) else []
        )
        if any(module.startswith(SIGNAL_MODULES) for module in modules):
            yield Problem(source.path, _line(node), "signal", "no signals; use the ledger's events or call the api")


def check_save_overrides(source: Source) -> Iterator[Problem]:
    """Style rule 10: no effects in save() or delete() of a model."""
    for node in source.tree.body:
        if not (isinstance(node, ast.ClassDef) and source.path.endswith("models.py")):
            continue
        for method in node.body:
            if isinstance(method, FunctionNode) and method.name in {"save", "delete"}:
                yield Problem(source.path, method.lineno, "model-save", f"{node.name}.{method.name} is overridden; put the effect into the api")


def check_clock_and_random(source: Source) -> Iterator[Problem]:
    """Style rule 19. `time.monotonic` measures durations and is fine; sessions ask Django's clock for their own expiry."""
    if source.path in CLOCK_FILES or source.path == "tenants/sessions.py":
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and (reason := BANNED_NAMES.get(".".join(dotted(node.func).split(".")[-2:]))):
            yield Problem(source.path, node.lineno, "clock-or-random", f"{dotted(node.func)}: {reason}")
        names = [node.module] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if name in BANNED_MODULES:
                yield Problem(source.path, _line(node), "clock-or-random", f"import {name}: {BANNED_MODULES[name]}")


def check_scope_yields(source: Source) -> Iterator[Problem]:
    """A generator that is suspended inside a scope leaves the scope open in its caller (tenancy.md)."""
    if source.path == "rag4c/scope/manager.py":
        return
    for function in functions_of(source.tree):
        for node in own_nodes(function):
            if isinstance(node, ast.With) and any(_opens_scope(item.context_expr) for item in node.items):
                for inner in _without_functions(node):
                    if isinstance(inner, ast.Yield | ast.YieldFrom):
                        yield Problem(source.path, inner.lineno, "yield-in-scope", f"{function.name} yields while a scope is open")


def _opens_scope(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] in {"scope", "outside_scope"}


def _without_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, FunctionNode | ast.Lambda):
            yield child
            yield from _without_functions(child)


def check_api_functions(source: Source) -> Iterator[Problem]:
    """Style rules 2 and 16: a docstring each; writes name who acts."""
    if not source.is_api or source.app not in {*APPS, "rag4c"}:
        return
    for function in public_functions(source):
        if not ast.get_docstring(function):
            yield Problem(source.path, function.lineno, "api-docstring", f"{function.name} has no docstring")
        if not any(is_write(node) for node in own_nodes(function)):
            continue
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        if not arguments or arguments[0].arg not in ACTING_ARGUMENTS:
            yield Problem(
                source.path, function.lineno, "api-actor", f"{function.name} writes; its first argument must be actor, tenant_id, grant or claim"
            )


def check_machines(source: Source) -> Iterator[Problem]:
    """Style rule 5: a state machine is a table in the app's states.py."""
    if source.path.endswith("states.py"):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == "Machine":
            yield Problem(source.path, node.lineno, "machine-place", "a Machine belongs into the app's states.py")


def check_app_doors(source: Source) -> Iterator[Problem]:
    """Architecture section 2: of another app only `api` is imported, at run time."""
    typing_only = {
        id(inner) for node in ast.walk(source.tree) if isinstance(node, ast.If) and dotted(node.test) == "TYPE_CHECKING" for inner in ast.walk(node)
    }
    for node in ast.walk(source.tree):
        if id(node) in typing_only:
            continue
        modules: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [f"{node.module}.{name.name}" for name in node.names] if node.module in APPS else [node.module]
        elif isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        for module in modules:
            app, _, rest = module.partition(".")
            if app in APPS and app != source.app and rest.split(".")[0] != "api" and source.path != "rag4c/initialise.py":
                yield Problem(source.path, _line(node), "app-door", f"{module} is inside another app; only {app}.api may be imported")


RULES: Final[tuple[Callable[[Source], Iterator[Problem]], ...]] = (
    check_sizes,
    check_objects_all,
    check_broad_except,
    check_signals,
    check_save_overrides,
    check_clock_and_random,
    check_scope_yields,
    check_api_functions,
    check_machines,
    check_app_doors,
)


def find_problems(sources: list[Source]) -> list[Problem]:
    """All breaches, in the order of files and lines."""
    return sorted((problem for source in sources for rule in RULES for problem in rule(source)), key=lambda row: (row.path, row.line))


def main() -> int:
    problems = find_problems(read_sources())
    sys.stdout.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
