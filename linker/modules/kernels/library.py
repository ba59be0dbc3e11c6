"""Finds and loads the compiled CPU kernels, which `setup.py` builds from `cpp/` and puts beside this file."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

import torch

# What `linker_abi` of cpp/native.cpp answers; both change whenever the signature of an exported function does.
ABI = 2
PATH = Path(__file__).with_name("liblinker.dll" if sys.platform == "win32" else "liblinker.so")
BUILD = "with a C++ compiler there, `pip install --force-reinstall --no-deps .` in linker's source folder builds it"


class LibraryProblem(Exception):  # noqa: N818 - a state that linker lives with
    """Why the native library cannot be used, in one line."""


@cache
def load(path: Path = PATH) -> ctypes.CDLL:
    """The native library, running its loops on the threads of torch.

    Raises:
        LibraryProblem: it is not there, cannot be loaded, or belongs to another version of linker.
    """
    if not path.exists():
        raise LibraryProblem(f"the native library is not built; {BUILD}")
    try:
        library = ctypes.CDLL(str(path))
        abi = library.linker_abi()
        if abi != ABI:
            raise LibraryProblem(
                f"the native library {path} belongs to another version of linker "
                f"(its interface is {abi}, not {ABI}); {BUILD}"
            )
        library.linker_isa.restype = ctypes.c_char_p
        library.linker_set_parallel.argtypes = [ctypes.c_void_p]
        library.linker_set_parallel.restype = None
    except (OSError, AttributeError) as error:
        raise LibraryProblem(f"the native library cannot be loaded ({error}); {BUILD}") from error
    library.linker_set_parallel(gomp_parallel())
    return library


def instructions() -> str:
    """The set of CPU instructions that the library computes with on this machine."""
    name: bytes = load().linker_isa()
    return name.decode()


@cache
def gomp_parallel() -> int | None:
    """Address of the function by which torch runs loops on its threads; None where torch has no such OpenMP.

    The library is given this very function, because a second pool of threads would fight with torch's for the cores.
    """
    if sys.platform == "win32" or not torch.backends.openmp.is_available():
        return None
    # Only what is loaded already is what torch computes with.
    loaded = getattr(os, "RTLD_NOLOAD", None)
    candidates = [(None, ctypes.DEFAULT_MODE), *((path, loaded) for path in _bundled() if loaded is not None)]
    for path, mode in candidates:
        try:
            return ctypes.cast(ctypes.CDLL(path, mode=mode).GOMP_parallel, ctypes.c_void_p).value
        except (OSError, AttributeError):
            continue
    return None


def _bundled() -> list[str]:
    """OpenMP as it comes with torch's wheels, in some under a changed name (libgomp-a34b3233.so.1)."""
    home = Path(torch.__file__).parent
    return [
        str(path)
        for folder in (home / "lib", home.with_name("torch.libs"))
        for path in folder.glob("libgomp*.so*")
    ]
