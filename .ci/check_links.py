"""Dead links in the project's Markdown: files, folders and headings. Addresses on the network are not asked."""

# scripts, not a package
from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = {".venv", ".git", ".local", ".peers", "node_modules", "build", "dist", "tests", "corpus", "sets"}  # documents of tests and demo are data
LINK = re.compile(
    r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|(?:src|href)=\"([^\"]+)\"|^\[[^\]]+\]:\s+(\S+)", re.MULTILINE
)
CODE = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


def find_documents(root: Path) -> list[Path]:
    """The Markdown files that people read."""
    return sorted(path for path in root.rglob("*.md") if not SKIPPED & set(path.relative_to(root).parts))


@cache
def read_anchors(path: Path) -> frozenset[str]:
    """Heading anchors as code hosts make them: lower case, punctuation dropped, blanks to hyphens, repeats numbered."""
    seen: dict[str, int] = {}
    anchors = set()
    text = re.sub(r"^(```|~~~).*?^\1", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        seen[anchor] = seen.get(anchor, -1) + 1
        anchors.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
    return frozenset(anchors | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text)))


def check_document(path: Path, root: Path) -> list[str]:
    """`file:line: what is dead` for each link that leads nowhere."""
    raw = path.read_text(encoding="utf-8")
    text = CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), raw)
    problems = []
    for match in LINK.finditer(text):
        link = next(group for group in match.groups() if group)
        if SCHEME.match(link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = path if not name else (root / name.lstrip("/") if name.startswith("/") else path.parent / name)
        place = f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}"
        if not target.exists():
            problems.append(f"{place}: {link} does not exist")
        elif anchor and target.suffix == ".md" and anchor not in read_anchors(target):
            problems.append(f"{place}: {link} names no heading")
    return problems


def main(root: Path = ROOT) -> int:
    problems = [problem for path in find_documents(root) for problem in check_document(path, root)]
    sys.stdout.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
