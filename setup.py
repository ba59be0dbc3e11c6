"""Compiles the native CPU kernels, where a C++ compiler is there, and installs the recipes; the rest is in setup.cfg.

    python setup.py build_ext --inplace     compile again beside the sources, if they changed

The library needs neither torch nor Python to be compiled: one file serves every version of both, and wheels are named
py3-none-<platform>. Without a compiler linker is installed all the same and computes in plain torch.
`CXX` names another compiler, with options if need be.

The recipes in `configs/` and the sample in `data/` are installed in `linker/share`; editable installs use those here.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

PACKAGE = "linker/modules/kernels"
# Folders that are installed in SHARE.
SHARED = ("configs", "data")
SHARE = "linker/share"
# Microsoft's compiler lacks the vector extensions that the kernels are written in.
COMPILERS = () if sys.platform == "win32" else ("c++", "g++", "clang++")
FLAGS = (
    "-O3 -std=c++17 -fno-math-errno -fno-trapping-math -ffp-contract=fast -fvisibility=hidden -fPIC -shared -pthread"
    " -Wno-psabi"
)


class BuildPackage(build_py):
    """Adds the recipes and the sample to the package."""

    def run(self) -> None:
        """Copy them; without them the installation would not work as documented."""
        super().run()
        if self.editable_mode:
            return
        for source, target in self._shared():
            self.mkpath(str(target.parent))
            self.copy_file(str(source), str(target), preserve_mode=False)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """With the copies."""
        copies = [] if self.editable_mode else [str(target) for _, target in self._shared()]
        return [*super().get_outputs(include_bytecode), *copies]

    def _shared(self) -> list[tuple[Path, Path]]:
        if missing := [name for name in SHARED if not Path(name).is_dir()]:
            raise FileNotFoundError(f"{' and '.join(missing)}: folder not found beside setup.py")
        files = [file for name in SHARED for file in sorted(Path(name).rglob("*")) if file.is_file()]
        return [(file, Path(self.build_lib, SHARE, file)) for file in files]


class BuildLibrary(build_ext):
    """One compiler call per library, which may fail."""

    def run(self) -> None:
        """Compile what is older than its sources, or was made for another machine."""
        inplace = self.inplace or self.editable_mode
        for extension in self.extensions:
            name = self.get_ext_filename(extension.name)
            target = Path(name) if inplace else Path(self.build_lib, name)
            sources = [Path(__file__), *map(Path, extension.sources), *map(Path, extension.depends)]
            newest = max(source.stat().st_mtime for source in sources)
            if self.force or not _loads(target) or target.stat().st_mtime < newest:
                self._compile(extension.sources, target)

    def _compile(self, sources: list[str], target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Whoever has the old file loaded keeps it, and nobody finds half a file.
        unfinished = target.with_suffix(f".{os.getpid()}.tmp")
        problem = ""
        try:
            command = [*_compiler(), *FLAGS.split(), *sources, "-o", str(unfinished)]
            print(shlex.join(command), flush=True)
            subprocess.run(command, check=True)
            os.replace(unfinished, target)
        except (OSError, ValueError) as error:
            problem = str(error)
        except subprocess.CalledProcessError as error:
            problem = f"{error.cmd[0]} failed with exit code {error.returncode}"
        finally:
            unfinished.unlink(missing_ok=True)
        if problem:
            # A library of other sources would be worse than none.
            target.unlink(missing_ok=True)
            print(
                f"warning: linker's native CPU kernels are not built ({problem}); "
                "linker works without them, but slower",
                file=sys.stderr,
            )

    def get_ext_filename(self, fullname: str) -> str:
        """The same name for all versions of Python."""
        return fullname.replace(".", "/") + (".dll" if sys.platform == "win32" else ".so")


class TagByPlatform(bdist_wheel):
    """A wheel with the library fits every Python of its platform; one without fits every platform."""

    def get_tag(self) -> tuple[str, str, str]:
        """As in the wheel's file name."""
        build = self.get_finalized_command("build_ext")
        if not any(Path(output).exists() for output in build.get_outputs()):
            return "py3", "none", "any"
        return "py3", "none", super().get_tag()[2]


def _loads(library: Path) -> bool:
    try:
        ctypes.CDLL(str(library.resolve()))
    except OSError:
        return False
    return True


def _compiler() -> list[str]:
    if chosen := os.environ.get("CXX"):
        return shlex.split(chosen)
    for name in COMPILERS:
        if shutil.which(name):
            return [name]
    raise ValueError(f"no C++ compiler: tried {', '.join(COMPILERS) or 'none on Windows'}")


# setuptools' build backend runs this file under that name, too.
if __name__ == "__main__":
    library = Extension(
        "linker.modules.kernels.liblinker",
        [f"{PACKAGE}/cpp/native.cpp"],
        depends=sorted(map(str, Path(PACKAGE, "cpp").glob("*.h"))),
        optional=True,
    )
    setup(
        ext_modules=[library],
        cmdclass={"build_py": BuildPackage, "build_ext": BuildLibrary, "bdist_wheel": TagByPlatform},
    )
