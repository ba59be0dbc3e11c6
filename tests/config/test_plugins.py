"""Packages that add components by being installed: they are listed, used, and harmless if broken."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from linker.config import EXPERIMENT, check, load_config, registry
from tests.helpers.forked import run_linker

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "configs" / "quickstart.jsonnet"
LOSS = '''
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
Linker = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Writes an installed distribution: its package, and the metadata that pip would write."""

    def write(name: str, losses: str = "") -> None:
        package = name.replace("-", "_")
        folder = tmp_path / "site" / package
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        (folder / "losses.py").write_text(losses, encoding="utf-8")
        info = tmp_path / "site" / f"{package}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[linker.components]\nany = {package}\n")

    return write


@pytest.fixture
def linker(tmp_path: Path) -> Linker:
    """Runs `linker ...` where the distributions are installed."""
    path = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run_linker(tmp_path, *map(str, arguments), environment={**os.environ, "PYTHONPATH": path})

    return run


def test_a_plugin_is_listed_described_checked_and_trained(
    install: Install, linker: Linker, tmp_path: Path
) -> None:
    install("own-losses", LOSS.replace("NAME", "own"))
    listed = linker("config", "components", "Loss").stdout.splitlines()
    line = next(line for line in listed if line.startswith("  own "))
    assert line.endswith("  Mean distance of the positive pairs.  [own_losses.losses]")
    assert "weight: a number, default 2.0. factor" in linker("config", "components", "Loss.own").stdout
    done = linker("config", "check", QUICKSTART, "-o", "{ loss: { type: 'own', wieght: 3 } }")
    assert (done.returncode, "loss.wieght: unknown key" in done.stderr) == (2, True)
    override = "{ loss: { type: 'own', weight: 3 }, trainer+: { epochs: 1, patience: 1 } }"
    done = linker("train", QUICKSTART, "-o", override, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert {"type": "own", "weight": 3} in json.loads((tmp_path / "run/config.json").read_text()).values()


@pytest.mark.parametrize(
    ("losses", "fault"),
    [
        ("@Loss.register('own'\n", "broken_one.losses cannot be imported (SyntaxError: "),
        ("", "broken_one registers no component"),
        (LOSS.replace("NAME", "nt_xent"), 'Loss "nt_xent" is registered twice: linker.'),
        (
            LOSS.replace("NAME", "own"),
            'Loss "own" is registered twice: a_first.losses:OwnLoss and broken_one',
        ),
    ],
)
def test_a_plugin_that_cannot_be_used_breaks_nothing_else(
    losses: str, fault: str, install: Install, linker: Linker
) -> None:
    install("broken-one", losses)
    install("a-first", LOSS.replace("NAME", "own"))
    for loss in ("own", "nt_xent"):
        used = linker("config", "check", QUICKSTART, "-o", f"loss={loss}")
        assert (used.returncode, used.stderr) == (0, "")
    listed = linker("config", "components").stderr
    assert f"plugin broken-one 1.2: {fault}" in listed
    assert "remove it with `pip uninstall broken-one`" in listed
    # A name that nobody registers may be one of the plugin that cannot be read.
    unknown = linker("config", "check", QUICKSTART, "-o", "loss=absent")
    assert unknown.returncode == 2
    assert '"absent" is not a registered Loss' in unknown.stderr
    assert fault in unknown.stderr


def test_commands_that_need_no_plugin_do_not_read_the_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.catalog, "include_plugins", lambda family="": pytest.fail("read"))
    assert not check(EXPERIMENT, load_config(QUICKSTART))
