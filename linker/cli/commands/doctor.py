"""`linker doctor`: check the installation and its compute kernels."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from torch import Tensor

# Distributions that only some commands need.
OPTIONAL = (
    "gensim",
    "sentence-transformers",
    "pylance",
    "ray",
    "fsspec",
    "fastapi",
    "uvicorn",
    "mcp",
    "matplotlib",
)
# float32 against float64, relative to the largest value. Broken kernels differ by far more.
TOLERANCE = 1e-3


def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON instead of a table.")
    ] = False,
) -> None:
    """Check the installation: which compute kernels are in use, and whether they give correct results.

    Compares each kernel with plain torch on a small random batch; exits with code 1 if they differ.
    """
    found = _examine()
    print(json.dumps(found, indent=2, ensure_ascii=False) if as_json else _table(found))
    if not all(device["ok"] for device in found["devices"]):
        raise typer.Exit(1)


def _examine() -> dict[str, Any]:
    import torch

    from linker.common.concurrency import cores
    from linker.modules.kernels.dispatch import VARIABLE
    from linker.version import __version__

    return {
        "linker": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        VARIABLE: os.environ.get(VARIABLE, "auto"),
        "devices": _devices(),
        "threads": torch.get_num_threads(),
        "cores": cores(),
        "allocator": _allocator(),
        "optional": {name: _version(name) for name in OPTIONAL},
    }


def _devices() -> list[dict[str, Any]]:
    """Return the kernels of the CPU and, if there is one, of the GPU."""
    import torch

    from linker.common.errors import LinkerError

    devices, errors = [], []
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        try:
            devices.append(_examine_device(device))
        except LinkerError as error:  # requested kernels need not support every device
            errors.append(error)
    if not devices:
        raise errors[0]
    return devices


def _examine_device(device: str) -> dict[str, Any]:
    import torch

    from linker.modules.kernels import library
    from linker.modules.kernels.dispatch import VARIABLE, kernels_for, why_plain

    scalar = torch.zeros((), device=device)
    name = kernels_for(scalar).name
    reason = ""
    if name == "plain":
        chosen = os.environ.get(VARIABLE) == "plain"
        reason = f"{VARIABLE} is 'plain'" if chosen else why_plain(scalar)
    native = name == "native"
    difference, error = _self_check(device)
    return {
        "device": device,
        "model": torch.cuda.get_device_name() if device == "cuda" else platform.processor() or None,
        "kernels": name,
        "why_plain": reason,
        "instructions": library.instructions() if native else None,
        "threads_of_torch": library.gomp_parallel() is not None if native else None,
        "largest_difference": difference,
        "error": error,
        "ok": difference is not None and difference <= TOLERANCE,
    }


def _self_check(device: str) -> tuple[float | None, str | None]:
    """Return the largest difference of outputs and gradients from plain torch in float64, or the error."""
    import torch

    from linker.modules.kernels.dispatch import use_kernels

    with use_kernels("plain"):
        expected = _encode_batch("cpu", torch.float64)
    try:
        computed = _encode_batch(device, torch.float32)
    except Exception as error:  # a diagnosis reports every error
        return None, f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
    differences = [
        float((ours.cpu().double() - theirs).abs().max() / theirs.abs().max())
        for ours, theirs in zip(computed, expected)
    ]
    # max() would ignore NaN.
    return (
        (max(differences), None) if all(d == d for d in differences) else (None, "the result is not a number")
    )


def _encode_batch(device: str, dtype: Any) -> tuple[Tensor, Tensor]:
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


def _allocator() -> str:
    """Return the memory allocator: the C library's, or a preloaded one."""
    try:
        mapped = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        mapped = ""
    for name in ("jemalloc", "tcmalloc", "mimalloc"):
        if f"lib{name}" in mapped:
            return name
    return " ".join(platform.libc_ver()).strip() or "the system's"


def _version(distribution: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _table(found: dict[str, Any]) -> str:
    rows = [
        ("linker", found["linker"]),
        ("Python", f"{found['python']}, {found['platform']}"),
        ("torch", found["torch"]),
    ]
    for device in found["devices"]:
        rows += _rows_of_device(device)
    if all(device["device"] == "cpu" for device in found["devices"]):
        rows.append(("GPU", "none that torch can use"))
    threads = f"{found['threads']}, on {found['cores']} cores"
    present = [f"{name} {number}" for name, number in found["optional"].items() if number]
    absent = [name for name, number in found["optional"].items() if not number]
    rows += [
        ("threads", threads),
        ("memory from", found["allocator"]),
        ("optional", ", ".join(present) or "none"),
        ("not installed", ", ".join(absent) or "none"),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _rows_of_device(device: dict[str, Any]) -> list[tuple[str, str]]:
    title = "CPU" if device["device"] == "cpu" else "GPU"
    kernels = device["kernels"]
    if device["why_plain"]:
        kernels += f": {device['why_plain']}"
    if device["instructions"]:
        pool = "torch's threads" if device["threads_of_torch"] else "separate threads"
        kernels += f", {device['instructions']}, on {pool}"
    check = device["error"]
    if check is None:
        check = f"at most {device['largest_difference']:.1g} from plain torch in float64"
    rows = [
        (f"{title} kernels", kernels),
        (f"{title} check", f"{'ok' if device['ok'] else 'NOT OK'}, {check}"),
    ]
    if device["device"] == "cuda":
        rows.insert(0, ("GPU", device["model"]))
    return rows
