"""Writes docs/states/<machine>.md from the tables in each app's states.py: `python .ci/write_states.py`; with --check it only compares."""

# scripts, not a package
from __future__ import annotations

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "states"
PACKAGES = ("rag4c", "tenants", "approvals", "documents", "retrieval", "verification", "evaluation", "compliance")
sys.path.insert(0, str(ROOT))


def find_machines() -> dict[str, str]:
    """name -> diagram, of every Machine in every module called states. Raises: ValueError for a name used twice."""
    from rag4c.kernel.states import Machine

    diagrams: dict[str, str] = {}
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("states.py")):
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for machine in vars(module).values():
            if isinstance(machine, Machine):
                if machine.name in diagrams:
                    raise ValueError(f"two machines are called {machine.name}")
                diagrams[machine.name] = machine.mermaid()
    return diagrams


def compare() -> list[str]:
    """What differs between the code and docs/states, one sentence each."""
    wanted = find_machines()
    found = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return [
        *(f"docs/states/{name}.md is missing or old" for name in sorted(wanted) if found.get(name) != wanted[name]),
        *(f"docs/states/{name}.md belongs to no machine" for name in sorted(found.keys() - wanted.keys())),
    ]


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        problems = compare()
        sys.stdout.writelines(f"{problem}; run `python .ci/write_states.py`\n" for problem in problems)
        return 1 if problems else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, diagram in find_machines().items():
        (FOLDER / f"{name}.md").write_text(diagram, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
