"""The last lines of a run."""

from pathlib import Path

import pytest

from linker.config import EXPERIMENT, load_config, resolve
from linker.config.recipes import find_config
from linker.data.splitters.splitter import Splits
from linker.models.files.resolve import resolve_model
from linker.training import summary
from tests.conftest import toy_posts


def test_what_to_do_next_is_a_command_with_the_files_of_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(summary, "resolve_model", lambda name: resolve_model("bm25"))
    monkeypatch.setattr(summary, "_LEAST_ARTICLES", 1)
    overrides = ["data.reader.posts=my posts.csv", "data.reader.on_error=skip"]
    config = resolve(EXPERIMENT, load_config(find_config("configs/quickstart.jsonnet"), overrides))
    config["model"]["vectors"] = None
    splits = Splits(toy_posts(), toy_posts())

    def last_line(reached: float, **changes: str) -> str:
        figures = {"MAP": reached, "pair AP": reached}
        summary.print_summary({**config, **changes}, splits, figures, Path("runs/m"))
        return capsys.readouterr().err.splitlines()[-1].strip()

    finetune = "linker train configs/minilm/finetune.jsonnet"
    assert (
        last_line(0)
        == f"""{finetune} -o 'data.reader.posts="my posts.csv"' -o 'data.reader.on_error="skip"'"""
    )
    rank = "linker rank --article FILE --posts FILE"
    assert last_line(0, start="best") == f"best ranks these posts better; next: {rank}"
    assert last_line(1) == f"next: {rank} --model runs/m"
