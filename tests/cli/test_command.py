"""Several values after one option, as shells make them of patterns."""

import pytest

from linker.cli.command import spread

TAKES = {"--article": 1, "--posts": 1, "--model": 1, "--explain": 0, "-o": 1}
LISTED = {"--article", "--posts"}


@pytest.mark.parametrize(
    ("typed", "arguments", "meant"),
    [
        ("--article a b c", 0, "--article a --article b --article c"),
        (
            "--article a --posts p q --article b c",
            0,
            "--article a --posts p --posts q --article b --article c",
        ),
        ("--article=a b", 0, "--article=a --article b"),
        ("--article - b", 0, "--article - --article b"),
        ("--article a b --explain", 0, "--article a --article b --explain"),
        ("--explain x --article a", 0, "--explain x --article a"),  # a mistake that the parser names
        ("--model m x --article a b", 0, "--model m x --article a --article b"),
        ("--model --article --posts p q", 0, "--model --article --posts p --posts q"),
        ("--article a -- b c", 0, "--article a -- b c"),
        ("--article", 0, "--article"),
        ("", 0, ""),
        ("folder --article a b --posts p", 1, "folder --article a --article b --posts p"),
        ("--article a b --posts p folder", 1, "--article a --article b --posts p folder"),
        ("--posts p --article a b folder", 1, "--posts p --article a --article b folder"),
        ("--article a folder --posts p", 1, "--article a folder --posts p"),
        ("--article a --posts p -- folder", 1, "--article a --posts p -- folder"),
        ("--unknown x --article a b", 0, "--unknown x --article a --article b"),
    ],
)
def test_each_value_gets_its_own_option(typed: str, arguments: int, meant: str) -> None:
    assert spread(typed.split(), TAKES, LISTED, arguments) == meant.split()


def test_values_keep_their_spaces() -> None:
    assert spread(["--article", "a b", "c d"], TAKES, LISTED, 0) == ["--article", "a b", "--article", "c d"]
