"""Packages that add components by being installed: they are listed, used, and harmless if broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.forked import run_linker

ROOT = Path(__file__).parents[2]
LOSS = '''
import torch
from linker.modules.losses.loss import Loss


@Loss.register("NAME")
class OwnLoss(Loss):
    """Mean distance of the positive pairs.

    Args:
        weight: factor of the loss.
    """

    def __init__(self, weight: float = 2.0) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, articles, posts, pairs):
        """Return the loss."""
        return self.weight * ((1 - articles @ posts.T) * pairs.positives).sum() / pairs.positives.sum().clamp(min=1)
'''
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Writes an installed distribution: its package, and the metadata that pip would write."""

    def write(name: str, files: dict[str, str], value: str | None = None) -> None:
        package = name.replace("-", "_")
        folder = tmp_path / "site" / package
        folder.mkdir(parents=True)
        for file, source in {"__init__.py": "", **files}.items():
            (folder / file).write_text(source, encoding="utf-8")
        info = tmp_path / "site" / f"{package}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8"
        )
        entry = f"[linker.components]\nany = {value or package}\n"
        (info / "entry_points.txt").write_text(entry, encoding="utf-8")

    return write


@pytest.fixture
def linker(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `linker ...` where the distributions are installed."""
    path = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run_linker(tmp_path, *map(str, arguments), environment={**os.environ, "PYTHONPATH": path})

    return run


Linker = Callable[..., subprocess.CompletedProcess[str]]


def config(loss: str) -> list[str]:
    """Return the arguments for a training config on the sample with this loss: one short epoch."""
    override = f"{{ loss: {loss}, trainer+: {{ epochs: 1, patience: 1 }} }}"
    return [str(ROOT / "configs" / "quickstart.jsonnet"), "-o", override]


def losses(linker: Linker) -> dict[str, str | None]:
    """Return the names of all losses, each with its plugin."""
    done = linker("config", "components", "Loss", "--json")
    assert done.returncode == 0, done.stderr
    return {row["name"]: row["plugin"] for row in json.loads(done.stdout)}


def test_a_plugin_is_listed_and_described(install: Install, linker: Linker) -> None:
    install("Own-Losses", {"losses.py": LOSS.replace("NAME", "own")}, value="Own_Losses.losses:OwnLoss")
    assert losses(linker)["own"] == "Own-Losses 1.2"
    assert losses(linker)["nt_xent"] is None
    listed = linker("config", "components", "Loss").stdout.splitlines()
    line = next(line for line in listed if line.startswith("  own "))
    assert line.endswith("  Mean distance of the positive pairs.  [Own-Losses 1.2]")
    assert "own(weight=2.0)::" in linker("config", "library").stdout
    schema = json.loads(linker("config", "schema", "Loss.own").stdout)
    assert "weight" in json.dumps(schema)


def test_a_config_trains_with_the_loss_of_a_plugin(install: Install, linker: Linker, tmp_path: Path) -> None:
    install("own-losses", {"losses.py": LOSS.replace("NAME", "own")})
    done = linker("train", *config("{ type: 'own', weight: 3 }"), "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    trained = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    assert {"type": "own", "weight": 3} in trained.values()
    # Faults of its keys are found as in linker's components.
    done = linker("config", "check", *config("{ type: 'own', wieght: 3 }"))
    assert (done.returncode, "loss.wieght: unknown key" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("files", "value", "fault"),
    [
        (
            {"losses.py": "@Loss.register('own'\n"},
            None,
            "broken_one.losses cannot be imported (SyntaxError: ",
        ),
        ({}, "gone_package", 'package "gone_package" was not found'),
        ({}, None, "broken_one registers no component"),
    ],
)
def test_a_plugin_that_cannot_be_read_breaks_nothing_else(
    files: dict[str, str], value: str | None, fault: str, install: Install, linker: Linker
) -> None:
    install("broken-one", files, value)
    install("own-losses", {"losses.py": LOSS.replace("NAME", "own")})
    assert losses(linker)["own"] == "own-losses 1.2"
    for command in [
        linker("config", "components"),
        linker("config", "library"),
        linker("config", "check", *config("'own'")),
        linker("config", "check", *config("'nt_xent'")),
    ]:
        assert command.returncode == 0, command.stderr
    listed = linker("config", "components").stderr
    assert "plugin broken-one 1.2: " in listed
    assert fault in listed
    assert "remove it with `pip uninstall broken-one`" in listed
    # A name that nobody registers may be one of the plugin that cannot be read.
    unknown = linker("config", "check", *config("'absent'"))
    assert unknown.returncode == 2
    assert '"absent" is not a registered Loss' in unknown.stderr
    assert fault in unknown.stderr


def test_a_plugin_that_fails_to_import_is_named(install: Install, linker: Linker, tmp_path: Path) -> None:
    install("own-losses", {"losses.py": "import absent_package\n" + LOSS.replace("NAME", "own")})
    done = linker("train", *config("'own'"), "--out", tmp_path / "run")
    assert done.returncode == 2
    assert "plugin own-losses 1.2: own_losses.losses cannot be imported" in done.stderr
    assert "No module named 'absent_package'" in done.stderr
    assert "pip uninstall own-losses" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_names_of_linker_win_and_names_of_two_plugins_are_left_out(install: Install, linker: Linker) -> None:
    install("first", {"losses.py": LOSS.replace("NAME", "shared"), "other.py": LOSS.replace("NAME", "alone")})
    install("second", {"losses.py": LOSS.replace("NAME", "shared")})
    install("third", {"losses.py": LOSS.replace("NAME", "nt_xent")})
    found = losses(linker)
    assert (found["alone"], found["nt_xent"], "shared" in found) == ("first 1.2", None, False)
    faults = linker("config", "components").stderr
    assert (
        'plugin second 1.2: Loss "shared" is left out, because plugin first 1.2 registers this name, too, and '
        "neither is used" in faults
    )
    assert (
        'plugin third 1.2: Loss "nt_xent" is left out, because a component of linker has this name' in faults
    )


def test_commands_that_need_no_plugin_do_not_read_the_entry_points(tmp_path: Path) -> None:
    code = (
        "import sys; from linker.config import registry, check, load_config, EXPERIMENT\n"
        "registry.installed_plugins = lambda: sys.exit('the entry points were read')\n"
        f"assert not check(EXPERIMENT, load_config({str(ROOT / 'configs/quickstart.jsonnet')!r}))\n"
    )
    subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True
    )
