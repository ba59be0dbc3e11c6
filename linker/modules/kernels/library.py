"""Load the compiled CPU kernels, which `setup.py` builds from `cpp/` into this folder."""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

# Result of `linker_abi` in cpp/native.cpp; change both with every signature of an exported function.
ABI = 9
PATH = Path(__file__).with_name("liblinker.dll" if sys.platform == "win32" else "liblinker.so")
BUILD = "with a C++ compiler there, `pip install --force-reinstall --no-deps .` in linker's source folder builds it"


class LibraryProblem(Exception):  # noqa: N818 - not an error: plain torch is used instead
    """The reason, in one line, why the native library cannot be used."""


@cache
def load(path: Path = PATH) -> ctypes.CDLL:
    """Load the native library; its loops run on the threads of torch.

    Raises:
        LibraryProblem: see `load_without_torch`.
    """
    library = load_without_torch(path)
    library.linker_set_parallel(gomp_parallel())
    return library


@cache
def load_without_torch(path: Path = PATH) -> ctypes.CDLL:
    """Load the native library for functions that run in the thread that calls them.

    Raises:
        LibraryProblem: if it is missing, cannot be loaded, or was built for another version of linker.
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
        library.linker_set_parallel.argtypes = [ctypes.c_void_p]
        library.linker_set_parallel.restype = None
    except (OSError, AttributeError) as error:
        raise LibraryProblem(f"the native library cannot be loaded ({error}); {BUILD}") from error
    return library


@cache
def gomp_parallel() -> int | None:
    """Return the address of the function by which torch's OpenMP runs parallel loops; None if there is none.

    The library uses the same function, because a second thread pool would compete with torch's for the cores.
    """
    import torch  # takes a second, which searches of a corpus do not need

    if sys.platform == "win32" or not torch.backends.openmp.is_available():
        return None
    # Only a library that is loaded already is the one that torch uses.
    loaded = getattr(os, "RTLD_NOLOAD", None)
    candidates = [(None, ctypes.DEFAULT_MODE), *((path, loaded) for path in _bundled() if loaded is not None)]
    for path, mode in candidates:
        try:
            return ctypes.cast(ctypes.CDLL(path, mode=mode).GOMP_parallel, ctypes.c_void_p).value
        except (OSError, AttributeError):
            continue
    return None


def _bundled() -> list[str]:
    """OpenMP libraries in torch's wheels, some under a changed name (libgomp-a34b3233.so.1)."""
    import torch

    home = Path(torch.__file__).parent
    return [
        str(path)
        for folder in (home / "lib", home.with_name("torch.libs"))
        for path in folder.glob("libgomp*.so*")
    ]
