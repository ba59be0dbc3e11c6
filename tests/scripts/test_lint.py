"""`python -m scripts.lint` finds what is wrong in pages, messages and docstrings, and nothing else."""

import pytest

from scripts.lint import commands, links, prose


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ("`linker rank --limit 3`", "no option --limit"),
        ("`linker juggle`", "unknown command 'juggle'"),
        ("```bash\nlinker train x.jsonnet --nothing y\n```", "--nothing"),
        ("```bash\nlinker rank --top 3 \\\n  --article a.txt --posts p.jsonl | head\n```", ""),
        ("`linker rank --top 3`", ""),
    ],
)
def test_commands_in_pages(page: str, wrong: str) -> None:
    found = [finding.wrong for finding in commands.of_page("page.md", page)]
    assert [wrong in found[0]] == [True] if wrong else found == []


def test_commands_in_messages() -> None:
    assert list(commands.of_message("add --no-such-option, or `linker annotate fly`"))
    assert not list(commands.of_message("add --force, or `linker annotate run job`"))


def test_spelling_and_phrases_but_not_code() -> None:
    found = list(prose.findings("page.md", 7, "We colour it.\n`colour` https://a.example/colour\n"))
    assert [(finding.line, finding.wrong) for finding in found] == [(7, "'colour'")]


def test_names_that_cannot_be_imported() -> None:
    assert links.exists("linker.data.types.Post")
    assert not links.exists("linker.data.types.Nothing")
