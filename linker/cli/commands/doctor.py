"""`linker doctor`: check the installation and its compute kernels."""

from __future__ import annotations

import os
import platform
from importlib.metadata import distributions
from typing import TYPE_CHECKING, Any

import typer

from linker.version import __version__

if TYPE_CHECKING:
    from torch import Tensor

# Distributions that only some commands need.
_OPTIONAL = ("sentence-transformers", "pylance", "ray", "fsspec", "fastapi", "uvicorn", "mcp", "matplotlib")
# float32 against float64, relative to the largest value. Broken kernels differ by far more.
_TOLERANCE = 1e-3


def doctor() -> None:
    """Check the installation: which compute kernels are in use, and whether they give correct results.

    Compares each kernel with plain torch on a small random batch; exits with code 1 if they differ.
    """
    import torch

    from linker.common.concurrency import cores
    from linker.modules.kernels.dispatch import VARIABLE, kernels_for, why_plain

    rows = {
        "linker": __version__,
        "Python": f"{platform.python_version()}, {platform.system()} {platform.machine()}",
        "torch": torch.__version__,
    }
    faults = 0
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        title = "CPU" if device == "cpu" else f"GPU {torch.cuda.get_device_name()}"
        scalar = torch.zeros((), device=device)
        kernels = kernels_for(scalar).name
        problem = _difference(device)
        faults += problem is not None
        if kernels == "plain":
            chosen = os.environ.get(VARIABLE) == "plain"
            kernels += f": {VARIABLE} is 'plain'" if chosen else f": {why_plain(scalar)}"
        rows[f"{title} kernels"] = kernels
        rows[f"{title} check"] = (
            "ok, equal to plain torch in float64" if problem is None else f"NOT OK, {problem}"
        )
    versions = {(found.metadata["Name"] or "").lower(): found.version for found in distributions()}
    rows |= {
        "threads": f"{torch.get_num_threads()}, on {cores()} cores",
        "optional": ", ".join(f"{name} {versions[name]}" for name in _OPTIONAL if name in versions) or "none",
        "not installed": ", ".join(name for name in _OPTIONAL if name not in versions) or "none",
    }
    width = max(map(len, rows))
    for name, value in rows.items():
        print(f"{name:<{width}}  {value}")
    if faults:
        raise typer.Exit(1)


def _difference(device: str) -> str | None:
    """Return how outputs and gradients differ from plain torch in float64, or the error; None: too little."""
    import torch

    from linker.modules.kernels.dispatch import use_kernels

    with use_kernels("plain"):
        expected = _encoded("cpu", torch.float64)
    try:
        computed = _encoded(device, torch.float32)
    except Exception as error:  # a diagnosis reports every error
        return f"{type(error).__name__}: {error}".splitlines()[0]
    differences = [
        float((values.cpu().double() - exact).abs().max() / exact.abs().max())
        for values, exact in zip(computed, expected)
    ]
    if all(difference <= _TOLERANCE for difference in differences):  # NaN is not
        return None
    return f"outputs and gradients differ from plain torch by {differences[0]:.1g} and {differences[1]:.1g}"


def _encoded(device: str, dtype: Any) -> tuple[Tensor, Tensor]:
    """Return embeddings of random texts by a small star transformer, and all gradients of a random sum."""
    import torch

    from linker.modules.encoders.star_transformer import StarTransformerEncoder

    lengths = torch.tensor([1, 2, 7, 300, 12, 31])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        encoder = StarTransformerEncoder(num_heads=3, head_dim=10, cycles=2, dropout=0.0, input_dim=24)
        tokens = torch.randn(int(lengths.sum()), 24)
        probe = torch.randn(len(lengths), 24)
    encoder.to(device, dtype)
    leaf = tokens.to(device, dtype).requires_grad_()
    vectors = encoder(leaf, lengths.to(device))
    (vectors * probe.to(device, dtype)).sum().backward()
    gradients = [parameter.grad for parameter in (leaf, *encoder.parameters()) if parameter.grad is not None]
    return vectors.detach(), torch.cat([gradient.flatten() for gradient in gradients])
