"""Build wheels for all common platforms on one machine: `make wheels`.

    python scripts/build_wheels.py                      all wheels, in dist/
    python scripts/build_wheels.py manylinux pure       wheels of the platforms with these prefixes

A wheel without the native library (py3-none-any) serves all other platforms. The library is cross-compiled for each
platform with zig's C++ compiler, which contains the headers and libraries of all systems. The source archive is built
first, and all wheels from it. There is no wheel for Linux with musl, because torch has none.
"""

from __future__ import annotations

import argparse
import base64
import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("build", "setuptools>=70.1", "ziglang==0.17.0")
FOLDER = "linker/modules/kernels"
# Platform tags of a wheel → zig's target, the library's first bytes, and the offset and bytes of its machine type.
PLATFORMS = {
    "manylinux_2_17_x86_64.manylinux2014_x86_64": ("x86_64-linux-gnu.2.17", b"\x7fELF\x02", 18, b"\x3e\x00"),
    "manylinux_2_17_aarch64.manylinux2014_aarch64": (
        "aarch64-linux-gnu.2.17",
        b"\x7fELF\x02",
        18,
        b"\xb7\x00",
    ),
    "macosx_11_0_x86_64": ("x86_64-macos.11.0", b"\xcf\xfa\xed\xfe", 4, b"\x07\x00\x00\x01"),
    "macosx_11_0_arm64": ("aarch64-macos.11.0", b"\xcf\xfa\xed\xfe", 4, b"\x0c\x00\x00\x01"),
    "win_amd64": ("x86_64-windows-gnu", b"MZ", 0, b"MZ"),
}
EXPORTED = (b"linker_abi", b"linker_isa", b"linker_set_parallel", b"linker_ring_forward_f32")


def main() -> None:
    """Build the chosen wheels; stop at the first failure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("platform", nargs="*", help="pure, or the prefix of a platform (default: all)")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "dist", help="folder for the wheels (default: dist)"
    )
    options = parser.parse_args()
    unknown = [p for p in options.platform if not any(tag.startswith(p) for tag in ("pure", *PLATFORMS))]
    if unknown:
        parser.error(f"unknown platform {', '.join(unknown)}; use pure or a prefix of {', '.join(PLATFORMS)}")
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        python = _tools(Path(folder, "tools"))
        source, archive = _source(python, Path(folder))
        pure = _pure_wheel(python, source, Path(folder, "pure"))
        for tag in PLATFORMS:
            if not options.platform or tag.startswith(tuple(options.platform)):
                library = _compile(python, source, tag, Path(folder, tag))
                print(_add_library(pure, library, tag, out))
        if not options.platform or "pure" in options.platform:
            print(shutil.copy(pure, out))
            print(shutil.copy(archive, out))


def _run(*command: str | Path, **environment: str) -> None:
    subprocess.run(command, check=True, env={**os.environ, **environment}, stdout=sys.stderr)


def _tools(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    _run(python, "-m", "pip", "--disable-pip-version-check", "install", "-q", *TOOLS)
    return python


def _source(python: Path, folder: Path) -> tuple[Path, Path]:
    """Build the source archive; return its unpacked folder and the archive."""
    _run(python, "-m", "build", "--sdist", "--outdir", folder / "sdist", ROOT)
    (archive,) = (folder / "sdist").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    return source, archive


def _pure_wheel(python: Path, source: Path, folder: Path) -> Path:
    # Without a compiler, setup.py builds the wheel without the library.
    _run(python, "-m", "build", "--wheel", "--outdir", folder, source, CXX="/nonexistent/c++")
    (wheel,) = folder.glob("*-py3-none-any.whl")
    return wheel


def _compile(python: Path, source: Path, tag: str, folder: Path) -> Path:
    target, magic, at, machine = PLATFORMS[tag]
    compiler = shlex.join([str(python), "-m", "ziglang", "c++", "-target", target, "-s"])
    command: list[str | Path] = [python, source / "setup.py", "-q", "build_ext", "--build-lib", folder]
    subprocess.run(command, check=True, cwd=source, env={**os.environ, "CXX": compiler}, stdout=sys.stderr)
    (built,) = (folder / FOLDER).glob("liblinker.*")
    library = built.rename(built.with_suffix(".dll" if tag.startswith("win") else ".so"))
    content = library.read_bytes()
    if not content.startswith(magic) or content[at : at + len(machine)] != machine:
        raise SystemExit(f"{library}: not a library for {tag}")
    if missing := [name.decode() for name in EXPORTED if name not in content]:
        raise SystemExit(f"{library}: {', '.join(missing)} not exported")
    if sys.platform == "linux" and f"manylinux2014_{platform.machine()}" in tag:
        ctypes.CDLL(str(library)).linker_abi()
    return library


def _add_library(pure: Path, library: Path, tag: str, out: Path) -> Path:
    """Write a copy of the wheel with the library, and with the platform in name, WHEEL and RECORD; return its path."""
    with zipfile.ZipFile(pure) as opened:
        contents = {name: opened.read(name) for name in opened.namelist()}
        date = opened.infolist()[0].date_time
    about = next(name for name in contents if name.endswith(".dist-info/WHEEL"))
    record = about.removesuffix("WHEEL") + "RECORD"
    contents[about] = _retagged(contents[about].decode(), tag).encode()
    contents[f"{FOLDER}/{library.name}"] = library.read_bytes()
    del contents[record]
    lines = [f"{name},{_digest(content)},{len(content)}\n" for name, content in contents.items()]
    contents[record] = "".join([*lines, f"{record},,\n"]).encode()
    wheel = out / pure.name.replace("-any.whl", f"-{tag}.whl")
    with zipfile.ZipFile(wheel, "w") as new:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = 0o100644 << 16
            new.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return wheel


def _digest(content: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _retagged(text: str, tag: str) -> str:
    lines = [line for line in text.strip().splitlines() if not line.startswith(("Tag:", "Root-Is-Purelib:"))]
    tags = [f"Tag: py3-none-{part}" for part in tag.split(".")]
    return "\n".join([*lines, "Root-Is-Purelib: false", *tags]) + "\n"


if __name__ == "__main__":
    main()
