"""Which HTML elements a reader does not see: attributes, inline styles, and simple rules of the page's own style sheets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.etree import _Element

DROPPED = frozenset({"script", "style"})  # never text, not even for the record
UNSEEN = {"template": "template", "noscript": "noscript", "nav": "navigation", "iframe": "fallback", "object": "fallback", "video": "fallback",
          "audio": "fallback", "canvas": "fallback", "datalist": "fallback", "noframes": "fallback"}  # fmt: skip
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_AT_BLOCK = re.compile(r"@[^{};]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|@[^{};]+;|/\*.*?\*/", re.DOTALL)
_SIMPLE = re.compile(r"(?P<tag>[a-z][a-z0-9]*)?(?P<rest>(?:[.#][\w-]+)*)")
_ZERO = re.compile(r"0*\.?0*(?:px|pt|em|rem|%|vh|vw)?(?:\s*!important)?")
_FAR = re.compile(r"-\d{4,}(?:\.\d+)?px")
_WHITE = "#ffffff"
_NAMED = {"white": _WHITE, "black": "#000000", "transparent": ""}
_RGB = re.compile(r"rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)\s*(?:[,/]\s*([\d.]+))?\s*\)")


@dataclass(frozen=True, slots=True)
class Colours:
    """Text and background as they reach an element; the page is white until something says otherwise."""

    text: str = "#000000"
    background: str = _WHITE


class StyleRules:
    """Rules with one simple selector (`p`, `.x`, `#y`, `p.x`) that change whether text is seen."""

    def __init__(self, sheets: Iterable[str]) -> None:
        self._rules: dict[str, list[tuple[str, frozenset[str], dict[str, str]]]] = {}
        for sheet in sheets:
            for selectors, body in _RULE.findall(_AT_BLOCK.sub("", sheet)):
                self._add(selectors, read_style(body))

    def _add(self, selectors: str, style: dict[str, str]) -> None:
        if not style:
            return
        for selector in selectors.split(","):
            match = _SIMPLE.fullmatch(selector.strip().lower())
            if match and selector.strip():
                marks = frozenset(re.findall(r"[.#][\w-]+", match["rest"]))
                key = next(iter(sorted(marks)), match["tag"] or "")
                self._rules.setdefault(key, []).append((match["tag"] or "", marks, style))

    def style_of(self, element: _Element, tag: str) -> dict[str, str]:
        """The declarations that apply to an element, its own style last."""
        style: dict[str, str] = {}
        if self._rules:
            marks = {f".{name}" for name in (element.get("class") or "").lower().split()}
            if element.get("id"):
                marks.add(f"#{element.get('id', '').lower()}")
            for key in (tag, *sorted(marks)):
                for rule_tag, rule_marks, declared in self._rules.get(key, ()):
                    if rule_tag in ("", tag) and rule_marks <= marks:
                        style.update(declared)
        own = element.get("style")
        if own:
            style.update(read_style(own))
        return style


def read_style(declarations: str) -> dict[str, str]:
    """`a: b; c: d` as a dict; only what `is_unseen` reads is kept."""
    style = {}
    for declaration in declarations.lower().split(";"):
        name, colon, value = declaration.partition(":")
        name = name.strip()
        if colon and name in _READ:
            style["background" if name == "background-color" else name] = value.strip()
    return style


_READ = frozenset({"display", "visibility", "opacity", "font-size", "color", "background", "background-color", "left", "top", "text-indent", "height",
                   "max-height", "width", "overflow", "position", "clip", "clip-path"})  # fmt: skip


def is_unseen(element: _Element, tag: str, style: dict[str, str], colours: Colours) -> bool:
    """Whether an element and all in it is not seen. Colours are those that reach its text."""
    if element.get("hidden") is not None or (tag == "dialog" and element.get("open") is None):
        return True
    return bool(style) and (_is_styled_away(style) or _is_out_of_page(style) or ("color" in style and colours.text == colours.background))


def _is_styled_away(style: dict[str, str]) -> bool:
    return (
        style.get("display", "").startswith("none")
        or style.get("visibility", "").startswith(("hidden", "collapse"))
        or any(name in style and _ZERO.fullmatch(style[name]) is not None for name in ("opacity", "font-size"))
    )


def _is_out_of_page(style: dict[str, str]) -> bool:
    if any(_FAR.match(style.get(name, "")) for name in ("left", "top", "text-indent")):
        return True
    is_clipped = style.get("overflow", "").startswith("hidden")
    has_no_size = any(name in style and _ZERO.fullmatch(style[name]) is not None for name in ("height", "max-height", "width"))
    return is_clipped and has_no_size


def inherit_colours(style: dict[str, str], around: Colours) -> Colours:
    """The colours inside an element. An image or gradient as background counts as another colour than any text."""
    if "color" not in style and "background" not in style:
        return around
    text = _colour(style["color"]) or around.text if "color" in style else around.text
    background = around.background
    if "background" in style:
        value = style["background"]
        background = "image" if "url(" in value or "gradient" in value else _colour(value.split(" ")[0] if "(" not in value else value) or background
    return Colours(text, background)


def _colour(value: str) -> str:
    value = value.replace("!important", "").strip()
    if value in _NAMED:
        return _NAMED[value]
    if re.fullmatch(r"#[0-9a-f]{3}", value):
        return "#" + "".join(digit * 2 for digit in value[1:])
    if match := _RGB.fullmatch(value):
        return "" if match[4] and float(match[4]) == 0 else "#" + "".join(f"{min(int(part), 255):02x}" for part in match.groups()[:3])
    return value if re.fullmatch(r"#[0-9a-f]{6}|[a-z]+", value) else ""
