"""Links, names of the Python API, files and components in pages exist; decisions and releases are in order."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

from linker.config.registry import catalog, short
from linker.version import __version__

from . import FENCE, Finding, line_at, pages
from .commands import COMMANDS

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
# `.. autoclass:: linker.data.types.Post`, and dotted names in running text.
NAME = re.compile(r"(?:^\.\. auto\w+:: |`)(linker(?:\.\w+)+)", re.MULTILINE)
# Files of the repository that a page names in code; patterns, placeholders and the reader's files are not.
FILE = re.compile(r"`((?:tests|benchmarks|scripts|linker)/[\w./-]+\.(?:py|md|json|csv))`(?!\s+of commit)")
LONGEST_RECORD = 250  # words
COMPONENT_PAGES = ("docs/components/", "docs/guides/data.md", "docs/guides/annotation-formats.md")


def check(root: Path) -> Iterator[Finding]:
    """Yield what is wrong with links and names in the pages, with decisions, and with the release."""
    texts = pages(root)
    for name, text in texts.items():
        yield from links(root, name, text)
        if "docs/decisions/" not in name and name != "CHANGELOG.md":  # these name things as they were
            yield from names(root, name, text)
    documented = "\n".join(text for name, text in texts.items() if name.startswith(COMPONENT_PAGES))
    for family in catalog.families():
        for name, reference in catalog.components(family).items():
            if reference.startswith("linker.") and f"`{name}`" not in documented:
                yield Finding("docs/components", 1, f"{short(family)} {name} is missing", "describe it")
            spec = catalog.spec(reference)
            for key in spec.parameters if spec else ():
                if not key["description"]:
                    file = f"{reference.partition(':')[0].replace('.', '/')}.py"
                    yield Finding(
                        file, 1, f"{key['name']} of {short(reference)} is not documented", "add it to Args"
                    )
    for command in {path.split()[0] for path in COMMANDS}:
        if f"docs/commands/{command}.md" not in texts:
            yield Finding(f"docs/commands/{command}.md", 1, "the command has no page", "write it")
    yield from decisions({name: text for name, text in texts.items() if name.startswith("docs/decisions/")})
    yield from release(root)


def links(root: Path, name: str, text: str) -> Iterator[Finding]:
    """Yield relative links to files or headings that do not exist."""
    for match in LINK.finditer(without_blocks(text)):
        path, _, anchor = match[1].partition("#")
        file = (root / name).parent / path if path else root / name
        if re.match(r"[a-z]+:", match[1]) or name.endswith(".ipynb"):
            continue
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield Finding(name, line_at(text, match.start()), f"broken link {match[1]}", "correct it")


def without_blocks(text: str) -> str:
    """Return a page with its blocks of code blanked out; lines keep their numbers."""
    return FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def names(root: Path, name: str, text: str) -> Iterator[Finding]:
    """Yield names of the Python API, and files of the repository and recipes, that do not exist."""
    found = [(line_at(text, match.start()), match[1]) for match in NAME.finditer(text)]
    for line, dotted in found:
        if not exists(dotted):
            yield Finding(name, line, f"unknown name {dotted}", "correct it")
    for match in FILE.finditer(text):
        if not (root / match[1]).exists():
            yield Finding(name, line_at(text, match.start()), f"file not found: {match[1]}", "correct it")


def exists(dotted: str) -> bool:
    """Return whether a dotted name can be imported."""
    try:
        return pkgutil.resolve_name(dotted) is not None
    except (ImportError, AttributeError):
        return False


def decisions(texts: dict[str, str]) -> Iterator[Finding]:
    """Yield records that are too long or without a title, and entries of the index that differ from them."""
    index = texts.pop("docs/decisions/README.md")
    entries = set(re.findall(r"^- \[(.+)\]\(([^()]+\.md)\)$", index, re.MULTILINE))
    for name, text in texts.items():
        file, words = name.rpartition("/")[2], len(text.split())
        title = text.split("\n")[0].removeprefix("# ")
        if not re.match(rf"{file[:3]}: \S", title):
            yield Finding(name, 1, "the title is not '# NNN: subject'", "number it as the file")
        if words > LONGEST_RECORD:
            yield Finding(name, 1, f"{words} words", f"keep it within {LONGEST_RECORD}")
        if (title.replace(": ", " ", 1), file) not in entries:
            yield Finding(name, 1, "docs/decisions/README.md has another title", "list it there")
    for _, file in entries:
        if f"docs/decisions/{file}" not in texts:
            yield Finding("docs/decisions/README.md", 1, f"{file} is not a record", "remove the line")


def release(root: Path) -> Iterator[Finding]:
    """Yield where the version differs."""
    for file, line in (("CHANGELOG.md", f"## [{__version__}]"), ("CITATION.cff", f"version: {__version__}")):
        if not re.search(rf"^{re.escape(line)}", (root / file).read_text(encoding="utf-8"), re.MULTILINE):
            yield Finding(file, 1, f"the version is not {__version__}", "correct it or linker/version.py")
