"""What a person typed in place of an article: an address, a path, text, or standard input."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal, TypeAlias

from linker.articles.incomplete_pages import word_count
from linker.common.errors import DataError
from linker.data.io.streams import STANDARD_INPUT

Kind: TypeAlias = Literal["standard input", "address", "file", "folder", "text"]

#: Endings of files that can hold articles; each may be packed.
ENDINGS = (".html", ".htm", ".xhtml", ".txt", ".md", ".json", ".jsonl", ".ndjson", ".pdf")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
#: Documents that have to be saved as something else first.
DOCUMENTS = (".docx", ".doc", ".odt", ".rtf", ".pages")
# What else is the name of a file, not a text of few words.
_OTHER_ENDINGS = (*DOCUMENTS, ".mhtml", ".mht", ".csv", ".tsv", ".xlsx", ".parquet")
_LONGEST_NAME = 255
_FEW_WORDS = 8
_URL = re.compile(r"https?://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)


def kind_of(source: str) -> Kind:
    """What a source is. Text is what is no path or address and has several words, or is too long for a file's name.

    Raises:
        DataError: it is none of these: a missing file, an address of an unknown kind, or nothing.
    """
    if source == STANDARD_INPUT:
        return "standard input"
    if is_url(source):
        return "address"
    if not source.strip():
        raise DataError("the article is empty; give an address, a file, a folder or the text itself")
    if not _is_too_long(source):
        if os.path.isdir(source):
            return "folder"
        if os.path.exists(source):
            return "file"
    if _is_text(source):
        return "text"
    raise DataError(f"{source}: there is no such file; {_remedy(source)}")


def is_url(source: str) -> bool:
    """Is it one address of a page?

    Raises:
        DataError: an address of another kind than http and https.
    """
    if len(source.split()) != 1:
        return False
    if _URL.match(source):
        return True
    if match := _OTHER_SCHEME.match(source):
        raise DataError(
            f"{source}: {match[1]} addresses cannot be fetched; give an http or https address or a file"
        )
    return False


def check_source(source: str | Path) -> None:
    """Find out before any work begins whether a source is there; addresses are not tried.

    Raises:
        DataError: it is a missing file, a folder without articles, or an address of an unknown kind.
    """
    if kind_of(str(source)) == "folder":
        articles_in(Path(source))


def articles_in(folder: Path) -> list[Path]:
    """The files directly in a folder whose names end like articles, sorted.

    Hidden files, READMEs, licenses and files called `posts` are left out.

    Raises:
        DataError: there is none, or the folder cannot be read.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror})") from error
    found = [path for path in paths if has_ending(path.name, ENDINGS) and not _is_none(path.name)]
    if not found:
        raise DataError(f"{folder}: no article in this folder (looked for *{', *'.join(ENDINGS)})")
    return found


def has_ending(name: str, endings: tuple[str, ...]) -> bool:
    """Does a file's name have one of these endings, packed or not?"""
    name = name.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return name.endswith(endings)


def _is_none(name: str) -> bool:
    return name.startswith(".") or name.lower().startswith(("readme", "license", "licence", "posts."))


def _is_too_long(source: str) -> bool:
    return "\n" in source or any(len(part.encode()) > _LONGEST_NAME for part in source.split("/"))


def _is_text(source: str) -> bool:
    if _is_too_long(source):
        return True
    words = len(source.split())
    if words <= _FEW_WORDS and has_ending(source.strip(), (*ENDINGS, *_OTHER_ENDINGS)):
        return False  # "my page.html" is the name of a file that is not there
    return words > 1 or word_count(source) > _FEW_WORDS


def _remedy(source: str) -> str:
    is_name = "/" not in source and has_ending(source, (*ENDINGS, *_OTHER_ENDINGS))
    is_host = _HOST.fullmatch(source) and not is_name
    page = f"give https://{source}" if is_host else "give its whole address (https://...)"
    return f"for a web page, {page}; for text, give more than one word, in quotes"
