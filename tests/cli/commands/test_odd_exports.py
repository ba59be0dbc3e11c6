"""Files as programs write them in the commands that read posts: fresh processes, no option, compressed or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from linker.data.platforms.platform import Platform
from tests.data.platforms.exports import EXPORTS
from tests.helpers.forked import run_linker

#: The oddest export of each format.
ODD_EXPORTS = [exports[-1] for exports in EXPORTS.values()]
ARTICLE = "The dam broke at night and the river rose, says the news of today"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    for number, export in enumerate(ODD_EXPORTS):
        (folder / str(number)).mkdir()
        export.write(folder / str(number))
    (folder / "article.txt").write_text(f"{ARTICLE}.\n\n" + "The dam broke and the river rose. " * 10)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ("rank", "--article", ARTICLE, "--model", "bm25", "--posts"),
        ("corpus", "build", "--out", "corpus", "--model", "distilled"),
        ("annotate", "start", "session", "--article", "article.txt", "--model", "bm25", "--posts"),
    ],
    ids=lambda command: command[0],
)
def test_every_file_is_recognized(command: tuple[str, ...], folder: Path) -> None:
    files = [f"{number}/{export.file_name}" for number, export in enumerate(ODD_EXPORTS)]
    if command[0] == "corpus":
        pytest.importorskip("lance")
        command = (*command[:2], *files, *command[2:])
    else:
        command = (*command, files[0], *(word for file in files[1:] for word in ("--posts", file)))
    done = run_linker(folder, *command)
    assert done.returncode == 0, done.stderr
    for number, export in enumerate(ODD_EXPORTS):
        assert (
            f"{number}/{export.file_name}: read as {Platform.by_name(export.format).title}: " in done.stderr
        )
