"""`linker doctor`: what it finds here, and that it sees kernels that are wrong."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from linker.modules.kernels import dispatch
from linker.modules.kernels.plain import PlainKernels
from linker.version import __version__


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LINKER_KERNELS", raising=False)
    # The GPU's first start takes longer than all tests here.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture
def run(command: Any) -> Any:
    """Runs `linker doctor` in this process; returns exit code, stdout, stderr."""
    return partial(command, "doctor")


class Wrong(PlainKernels):
    """Says it is native, and is off by a little."""

    name = "native"

    def __init__(self, factor: float, where: str = "forward") -> None:
        self.factor, self.where = factor, where

    def norm(
        self, x: Tensor, weight: Tensor, bias: Tensor, dropout: float, numbers: Tensor | None = None
    ) -> Tensor:
        right = super().norm(x, weight, bias, dropout, numbers)
        wrong = right * self.factor
        return wrong if self.where == "forward" else right.detach() + wrong - wrong.detach()


def test_what_is_installed_is_right(run: Any) -> None:
    code, out, err = run()
    assert (code, err) == (0, "")
    rows = dict(line.split("  ", 1) for line in out.splitlines())
    assert rows["linker"].strip() == __version__
    assert rows["torch"].strip() == torch.__version__
    assert rows["CPU kernels"].strip().split(":")[0] == dispatch.kernels_for(torch.zeros(())).name
    assert rows["CPU check"].strip() == "ok, equal to plain torch in float64"


@pytest.mark.parametrize("where", ["forward", "backward"])
@pytest.mark.parametrize("factor", [1.01, float("nan")])
def test_wrong_kernels_are_seen(run: Any, monkeypatch: pytest.MonkeyPatch, factor: float, where: str) -> None:
    monkeypatch.setattr(dispatch, "NATIVE", Wrong(factor, where))
    monkeypatch.setattr(dispatch.native, "problem", lambda: "")
    code, out, _ = run()
    assert code == 1
    assert "CPU kernels    native" in out
    assert "NOT OK, outputs and gradients differ" in out


def test_without_the_library_the_reason_is_reported(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch.native, "problem", lambda: "the native library is not built; do so")
    code, out, _ = run()
    assert code == 0
    assert "plain: the native library is not built; do so\n" in out
    monkeypatch.setenv("LINKER_KERNELS", "native")
    assert run() == (
        2,
        "",
        "error: LINKER_KERNELS: 'native' kernels are not available: the native library is not built; do so\n",
    )


def test_the_variable_chooses(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKER_KERNELS", "plain")
    code, out, _ = run()
    assert code == 0
    assert "plain: LINKER_KERNELS is 'plain'\n" in out
    monkeypatch.setenv("LINKER_KERNELS", "fast")
    assert run() == (2, "", "error: LINKER_KERNELS: unknown kernels 'fast'; use auto, plain, native\n")
