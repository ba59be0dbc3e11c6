"""Docstrings, comments and messages are written by STYLE.md: the field's terms, American spelling."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.prose import faults, prose_of

ROOT = Path(__file__).parents[2]
#: Strings that are data: words of other people's texts and columns.
DATA = {
    "data/files/known_columns.py": ("KNOWN_NAMES", "TITLES", "FULLER"),
    "data/labels/known_names.py": ("LABELS",),
    "data/labels/values.py": ("_WORDS", "_MISSING"),
    "models/lexical.py": ("ENGLISH",),
    "ranking/words.py": ("_COMMON",),
}
FILES = sorted((ROOT / "linker").rglob("*.py"))
#: Benchmarks and scripts are checked as linker/ is; of tests only docstrings and comments, because strings are data.
OTHERS = sorted(path for name in ("benchmarks", "scripts") for path in (ROOT / name).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
OTHER_DATA = {"scripts/make_torchtext_golden.py": ("TEXTS",)}
CPP = sorted((ROOT / "linker").rglob("cpp/*"))


def prose(source: str, data: tuple[str, ...] = (), strings: bool = True) -> Iterator[tuple[int, str]]:
    """Yield the docstrings, comments and `strings` of a program, with their first lines; `data` is left out."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: ")
    tree = ast.parse(source)
    if not strings:
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
                doc := ast.get_docstring(node)
            ):
                yield getattr(node, "lineno", 1), doc
        return
    skipped = {
        id(node)
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        and {target.id for target in _targets(statement) if isinstance(target, ast.Name)} & set(data)
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
            yield node.lineno, "".join(map(str, parts))
            skipped.update(map(id, node.values))
        elif isinstance(node, ast.Constant) and id(node) not in skipped and " " in str(node.value):
            yield node.lineno, str(node.value)  # without a space it would be a name or a key


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def faults_of(source: str, data: tuple[str, ...] = (), strings: bool = True) -> list[str]:
    """Return the findings in a program, each with the line where its docstring, comment or string begins."""
    found = prose(source, data, strings)
    return [f"line {line}: {fault}" for line, text in found for fault in faults(prose_of(text))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_is_in_the_terms_and_the_spelling_of_the_style_guide(path: Path) -> None:
    data = DATA.get(path.relative_to(ROOT / "linker").as_posix(), ())
    assert faults_of(path.read_text(encoding="utf-8"), data) == []


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_benchmarks_and_scripts_are_in_the_terms_of_the_style_guide(path: Path) -> None:
    data = OTHER_DATA.get(path.relative_to(ROOT).as_posix(), ())
    assert faults_of(path.read_text(encoding="utf-8"), data) == []


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_docstrings_and_comments_of_tests_are_in_the_terms_of_the_style_guide(path: Path) -> None:
    assert faults_of(path.read_text(encoding="utf-8"), strings=False) == []


@pytest.mark.parametrize("path", CPP, ids=lambda path: path.name)
def test_comments_of_the_kernels_are_in_the_spelling_of_the_style_guide(path: Path) -> None:
    comments = [line.partition("//")[2] for line in path.read_text(encoding="utf-8").split("\n")]
    assert faults("\n".join(comments)) == []


def test_all_files_are_found() -> None:
    assert len(FILES) > 200
    assert len(CPP) >= 7
    assert len(OTHERS) > 60
    assert len(TESTS) > 180
    assert all((ROOT / "linker" / name).is_file() for name in DATA)


@pytest.mark.parametrize(
    "source",
    [
        '"""All are told at once."""',
        "x = 1  # made anew",
        'def f():\n    raise ValueError(f"{x}: there is no such folder")',
        'help = "the colour of the line"',
    ],
)
def test_discouraged_phrases_are_found_in_docstrings_comments_and_strings(source: str) -> None:
    assert len(faults_of(source)) >= 1


def test_names_quoted_code_and_data_are_left_out() -> None:
    assert faults_of('told = {"said": 1}\nx = f"use `told anew`"\n') == []
    assert faults_of('WORDS = "said told anew"', ("WORDS",)) == []
    assert faults_of('WORDS = "said told anew"', strings=False) == []
    assert len(faults_of('"""All are told."""  # and said', strings=False)) == 2
