"""Discouraged phrases and British spelling in pages, docstrings, comments and messages."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from . import Finding, line_at, pages, programs

#: Discouraged phrases (regular expressions, matched as whole words in any case), with what to write instead.
DISCOURAGED = {
    r"told": "reported, shown, logged",
    r"tells? (?!apart)": "report, show, log, distinguish",
    r"said": "reported, predicted, specified",
    r"anew": "again, from scratch",
    r"(?:come|comes|came|bring|brings|brought) along": "bundled, pretrained; has, includes",
    r"there (?:is|are) no such": "not found, unknown",
    r"no such (?:file|folder|config|model)(?! or directory)": "not found",
    r"(?:is|are) no (?:article|label|number|folder|file|model|session|config|name|text|column|format)s?": "is not a",
    r"(?:go|goes|going|went) on": "continue, resume",
    r"hand(?:s|ed|ing)? (?:out|over)": "assign, pass",
    r"piles?": "set, collection",
    r"likeness": "similarity",
    r"word counting": "lexical baseline",
    r"(?:curve of|of the|these) finds|(?:a|last|more) find": "relevant post found; recall curve",
}
_PHRASES = [
    (re.compile(rf"(?<![\w-])(?:{phrase})(?![\w-])".replace(" ", r"\s+"), re.IGNORECASE), better)
    for phrase, better in DISCOURAGED.items()
]
_ANY = re.compile("|".join(phrase.pattern for phrase, _ in _PHRASES), re.IGNORECASE)
_CODE = re.compile(
    r"^(?P<fence>```+|~~~+).*?^(?P=fence)|<!--.*?-->|`+[^`]+`+|(?<=\])\([^)\s]*\)|https?://\S+|<[^>\n]+>",
    re.DOTALL | re.MULTILINE,
)
_WORD = re.compile(r"[A-Za-z]+")
#: Pages that quote what they advise against, or words of others.
EXEMPT = ("STYLE.md", "RELEASE_PROCESS.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "benchmarks/")
#: Assignments whose strings are data: words of other people's texts and columns.
DATA = {
    "scripts/make_torchtext_golden.py": {"TEXTS"},
    "scripts/lint/prose.py": {"DISCOURAGED"},
}


def check(root: Path) -> Iterator[Finding]:
    """Yield the discouraged phrases and British words of pages and programs."""
    for name, text in pages(root).items():
        if not name.startswith(EXEMPT):
            yield from findings(name, 1, text)
    for name, source in programs(root, "linker", "benchmarks", "scripts").items():
        for line, text in texts_of(source, DATA.get(name, set())):
            yield from findings(name, line, text)


def findings(file: str, first: int, markdown: str) -> Iterator[Finding]:
    """Yield the faults in a text that begins in line `first` of a file; code and addresses are left out."""
    text = _CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), markdown)
    for phrase, better in _PHRASES if _ANY.search(text) else ():
        for match in phrase.finditer(text):
            words = " ".join(match[0].split())
            yield Finding(file, first - 1 + line_at(text, match.start()), repr(words), f"write {better}")
    for match in _WORD.finditer(text):
        if american := _american().get(match[0].lower()):
            yield Finding(file, first - 1 + line_at(text, match.start()), repr(match[0]), f"write {american}")


def texts_of(source: str, data: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the comments, docstrings and strings of a program, with their first lines; `data` is left out."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: ")
    tree = ast.parse(source)
    skipped = {
        id(node)
        for statement in tree.body
        if data & {getattr(target, "id", "") for target in getattr(statement, "targets", [])}
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
            yield node.lineno, "".join(map(str, parts))
            skipped.update(map(id, node.values))
        elif isinstance(node, ast.Constant) and id(node) not in skipped and " " in str(node.value):
            yield node.lineno, str(node.value)  # without a space it would be a name or a key


@cache
def _american() -> dict[str, str]:
    """British spelling → American spelling, from codespell's dictionary."""
    data = (files("codespell_lib") / "data/dictionary_en-GB_to_en-US.txt").read_text(encoding="utf-8")
    return dict(line.split("->", 1) for line in data.splitlines() if "->" in line)
