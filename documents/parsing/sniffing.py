"""What a file is, judged by its content first; its name only chooses between kinds of text."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePosixPath

from documents.parsing.contract import ParseRefused

_MAGIC = (
    (b"%PDF-", "pdf"), (b"{\\rtf", "rtf"), (b"\x89PNG\r\n\x1a\n", "image"), (b"\xff\xd8\xff", "image"), (b"GIF8", "image"), (b"II*\x00", "image"),
    (b"MM\x00*", "image"), (b"BM", "bitmap"), (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"), (b"PK\x03\x04", "zip"), (b"PK\x05\x06", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "archive"), (b"Rar!\x1a\x07", "archive"), (b"\x1f\x8b", "archive"), (b"BZh", "archive"), (b"\xfd7zXZ\x00", "archive"),
    (b"\x7fELF", "program"), (b"MZ", "program"),
)  # fmt: skip
_TEXT_NAMES = {
    "markdown": ("md", "markdown", "mdown", "mkd"),
    "text": ("txt", "text", "log", ""),
    "html": ("html", "htm", "xhtml"),
    "csv": ("csv", "tsv"),
    "json": ("json", "jsonl"),
    "mail": ("eml",),
}
_BY_NAME = {name: kind for kind, names in _TEXT_NAMES.items() for name in names}
_BINARY_NAMES = frozenset(
    [
        "pdf",
        "docx",
        "xlsx",
        "pptx",
        "docm",
        "xlsm",
        "pptm",
        "doc",
        "xls",
        "ppt",
        "rtf",
        "odt",
        "ods",
        "odp",
        "epub",
        "zip",
        "png",
        "jpg",
        "jpeg",
        "gif",
        "tif",
        "tiff",
        "bmp",
        "webp",
        "msg",
        "mht",
        "mhtml",
    ]
)
_MACRO_NAMES = frozenset({"docm", "dotm", "xlsm", "xltm", "pptm", "potm", "ppsm"})
_CONVERT = {
    "doc": "Save it as .docx and add that.", "xls": "Save it as .xlsx and add that.", "ppt": "Save it as .pptx and add that.",
    "rtf": "Save it as .docx and add that.", "odt": "Save it as .docx and add that.", "epub": "Save it as HTML and add that.",
    "zip": "Unpack the archive and add the files in it.",
}  # fmt: skip
_HEAD_BYTES = 4_096
_HTML = re.compile(rb"(?:\s|(?><!--.*?-->)|<\?xml[^>]*\?>)*+<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL)
_MAIL = re.compile(rb"(?:[A-Za-z-]{2,40}:[^\n]*\n(?:[ \t][^\n]*\n)*)*?(?:MIME-Version|Received|Return-Path):", re.IGNORECASE)
_MULTIPART = re.compile(rb"^Content-Type:\s*multipart/related", re.IGNORECASE | re.MULTILINE)
_ERROR_PAGE = re.compile(
    rb"<(?:title|h1)[^>]*>[^<]{0,80}?(?:\b(?:401|403|404|410|429|500|502|503|504)\b|not found|forbidden|unauthori[sz]ed|access denied|"
    rb"bad gateway|service unavailable|internal server error|log ?in\b|sign ?in\b|" + "未找到|无法访问|登录|登陆|禁止访问".encode() + rb")",
    re.IGNORECASE,
)
_OLE_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def sniff(data: bytes, path: str) -> str:
    """The format: a key of the registry, or the name of one that has no parser yet.

    Raises: ParseRefused with type_mismatch, legacy_format, macro_enabled, encrypted, corrupt_archive or unsupported_format.
    """
    extension = PurePosixPath(path).suffix.lower().removeprefix(".")
    magic = next((kind for prefix, kind in _MAGIC if data.startswith(prefix)), "")
    if magic in {"bitmap", "program"} and _is_text(data):
        magic = ""  # two letters alone prove nothing: "BM25" and "MZ" start sentences too
    if magic == "zip":
        return _sniff_zip(data, extension)
    if magic == "ole":
        raise _refuse_ole(data, extension)
    if magic in {"pdf", "image"}:
        return magic
    if magic:
        raise _unsupported(extension or magic, magic)
    return _sniff_text(data, extension)


def _sniff_zip(data: bytes, extension: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise ParseRefused("corrupt_archive", "The file is damaged: its table of contents cannot be read. Save it again and add that.") from error
    if extension in _MACRO_NAMES or any(name.endswith("vbaProject.bin") for name in names):
        raise ParseRefused("macro_enabled", "The document holds macros. Save it without macros (.docx, .xlsx, .pptx) and add that.")
    for part, kind in (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx")):
        if "[Content_Types].xml" in names and any(name.startswith(part) for name in names):
            return kind
    raise _unsupported(extension or "zip", "zip")


def _refuse_ole(data: bytes, extension: str) -> ParseRefused:
    if _OLE_ENCRYPTED in data:
        return ParseRefused("encrypted", "The document is protected by a password. Save it without the password and add that.")
    advice = _CONVERT.get(extension, "Save it as .docx, .xlsx or .pptx and add that.")
    return ParseRefused("legacy_format", f"This is an old binary Office file. {advice}")


def _sniff_text(data: bytes, extension: str) -> str:
    head = data[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")
    promised = _BY_NAME.get(extension)
    if _HTML.match(head):
        return _accept_html(head, extension, promised)
    if _MAIL.match(head):
        if extension in _BINARY_NAMES - {"mht", "mhtml"}:
            raise _mismatch("a saved web page or mail", extension)
        if promised == "mail" or _MULTIPART.search(head):
            return "mail" if promised == "mail" else "mhtml"
    if extension in _BINARY_NAMES:
        raise _mismatch("text" if _is_text(data) else "other data", extension)
    if not _is_text(data):
        raise _mismatch("binary data", extension) if promised else _unsupported(extension, "binary")
    if promised is None:
        raise _unsupported(extension, "text")
    return promised


def _accept_html(head: bytes, extension: str, promised: str | None) -> str:
    """A page under another name: fine for text names, but never an error or log-in page in place of the document (R11)."""
    if promised == "html":
        return "html"
    if promised not in {"markdown", "text"} or _ERROR_PAGE.search(head):
        raise _mismatch("a web page", extension)
    return "html"


def _is_text(data: bytes) -> bool:
    """Text has next to no control characters, unless it is UTF-16 or UTF-32, which has a mark or NUL on one side."""
    head = data[:_HEAD_BYTES]
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        return True
    controls = sum(1 for byte in head if byte < 32 and byte not in b"\t\n\r\f\x1b\x00")
    nuls = max(head[0::2].count(0), head[1::2].count(0))
    is_one_sided = min(head[0::2].count(0), head[1::2].count(0)) * 20 <= nuls
    return controls * 50 <= len(head) and (is_one_sided or head.count(0) * 20 <= len(head))


def _mismatch(found: str, extension: str) -> ParseRefused:
    return ParseRefused("type_mismatch", f"The name promises .{extension or 'text'}, but the file holds {found}. Fetch the original and add that.")


def _unsupported(extension: str, found: str) -> ParseRefused:
    advice = _CONVERT.get(extension, _CONVERT.get(found, "Save it as Markdown, text or HTML and add that."))
    return ParseRefused("unsupported_format", f"Files of this kind (.{extension or found}) are not read. {advice}")


def unsupported(kind: str) -> ParseRefused:
    """The refusal for a kind that was recognised and has no parser."""
    return _unsupported(kind, kind)
