"""Writes docs/roles.md from tenants/roles.py and tenants/duties.py: `python .ci/write_roles.py`; with --check it only compares."""

# scripts, not a package
from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "roles.md"
sys.path.insert(0, str(ROOT))


def write_page() -> str:
    """The page as it has to be."""
    from tenants import duties, roles

    codes = list(roles.PERMISSIONS)
    lines = [
        "# Roles",
        "",
        "Generated from `tenants/roles.py` and `tenants/duties.py` by `.ci/write_roles.py`. A role is an explicit set of permissions; ✓ means that the",
        "role's grant holds the permission. What a guarded action needs besides is a matter of its policy.",
        "",
        "## Permissions",
        "",
        "| permission | " + " | ".join(codes) + " |",
        "|---|" + "---|" * len(codes),
    ]
    for permission in roles.all_permissions():
        lines.append(f"| `{permission}` | " + " | ".join("✓" if permission in roles.PERMISSIONS[code] else "" for code in codes) + " |")
    lines += ["", "## Acting for support", "", roles.SUPPORT_NOTE, "", *(f"- `{permission}`" for permission in sorted(roles.SUPPORT))]
    lines += ["", "## Segregation of duties", "", "| role | with | effect | why |", "|---|---|---|---|"]
    lines += [f"| {row.one} | {row.other} | {row.effect} | {row.why} |" for row in duties.CONFLICTS]
    return "\n".join([*lines, ""])


def compare() -> list[str]:
    """What differs, one sentence each."""
    found = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return [] if found == write_page() else ["docs/roles.md is missing or old"]


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        problems = compare()
        sys.stdout.writelines(f"{problem}; run `python .ci/write_roles.py`\n" for problem in problems)
        return 1 if problems else 0
    PAGE.write_text(write_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
