"""Building and loading the native library: with a compiler, without one, and when what is there does not fit."""

import base64
import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from linker.models.pretrained import FOLDERS
from linker.modules.kernels import library

ROOT = Path(__file__).parents[1]
KERNELS = Path("linker", "modules", "kernels")
LIBRARY = KERNELS / "liblinker.so"
SOURCE = KERNELS / "cpp" / "native.cpp"
# Replaces the kernels, which take long to compile.
SMALL = """
static void *given;
extern "C" __attribute__((visibility("default"))) int linker_abi(void) { return %d; }
extern "C" __attribute__((visibility("default"))) const char *linker_isa(void) { return "abacus"; }
extern "C" __attribute__((visibility("default"))) void linker_set_parallel(void *function) { given = function; }
extern "C" __attribute__((visibility("default"))) void *what_was_given(void) { return given; }
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no native kernels are built there")
needs_compiler = pytest.mark.skipif(not shutil.which("c++"), reason="no C++ compiler")


def copied(folder: Path, *left_out: str) -> Path:
    """Copy this source folder with a small native.cpp, nothing built."""
    pytest.importorskip("setuptools", "70.1")
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.tmp", *left_out)
    shutil.copytree(ROOT / "linker", folder / "linker", ignore=ignored)
    for name in ("configs", "data"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("setup.py", "setup.cfg", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    (folder / SOURCE).write_text(SMALL % library.ABI, encoding="utf-8")
    return folder


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy without the weights of the bundled models, 80 MB that take long to pack."""
    return copied(tmp_path, "*.safetensors", "*.onnx")


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return copied(tmp_path)


def setup(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "CXX"}
    return subprocess.run(
        [sys.executable, "setup.py", "-q", *arguments],
        cwd=folder,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"CXX": "/nonexistent/c++ -O1"}, "[Errno 2] No such file or directory: '/nonexistent/c++'"),
        ({"PATH": ""}, "no C++ compiler: tried c++, g++, clang++"),
    ],
    ids=["no such compiler", "no compiler"],
)
def test_without_the_library_the_build_continues_and_reports_it(
    copy: Path, environment: dict[str, str], reason: str
) -> None:
    (copy / LIBRARY).write_text("of older sources")
    done = setup(copy, "build_ext", "--inplace", **environment)
    assert done.stderr.splitlines() == [
        f"warning: linker's native CPU kernels are not built ({reason}); linker works without them, but slower"
    ]
    assert not list((copy / KERNELS).glob("liblinker*"))


@needs_compiler
def test_a_wheel_with_the_library_fits_every_python_of_this_platform(copy: Path) -> None:
    setup(copy, "bdist_wheel")
    (wheel,) = (copy / "dist").iterdir()
    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    assert LIBRARY.as_posix() in zipfile.ZipFile(wheel).namelist()


@needs_compiler
def test_the_library_gets_the_threads_of_torch_and_is_compiled_again_when_it_changed(copy: Path) -> None:
    setup(copy, "build_ext", "--inplace")
    loaded = library.load(copy / LIBRARY)
    loaded.linker_isa.restype = ctypes.c_char_p
    assert loaded.linker_isa() == b"abacus"
    loaded.what_was_given.restype = ctypes.c_void_p
    assert loaded.what_was_given() == library.gomp_parallel()
    first = (copy / LIBRARY).stat()
    assert setup(copy, "build_ext", "--inplace").stdout == ""
    assert (copy / LIBRARY).stat().st_ino == first.st_ino
    header = next((copy / KERNELS / "cpp").glob("*.h"))
    os.utime(header, (first.st_mtime + 10, first.st_mtime + 10))
    assert "native.cpp" in setup(copy, "build_ext", "--inplace").stdout
    (copy / LIBRARY).write_text("from another machine")
    os.utime(copy / LIBRARY, (first.st_mtime + 20, first.st_mtime + 20))
    setup(copy, "build_ext", "--inplace")
    assert library.load(copy / LIBRARY).linker_abi() == library.ABI


@needs_compiler
def test_a_library_of_another_version_is_refused(copy: Path) -> None:
    (copy / SOURCE).write_text(SMALL % (library.ABI + 1), encoding="utf-8")
    setup(copy, "build_ext", "--inplace")
    with pytest.raises(library.LibraryProblem, match=r"another version of linker .*pip install"):
        library.load(copy / LIBRARY)


def test_a_missing_or_damaged_library_is_reported_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "liblinker.so"
    with pytest.raises(library.LibraryProblem, match=r"is not built; .*pip install"):
        library.load(path)
    path.write_text("no library")
    with pytest.raises(library.LibraryProblem, match=r"cannot be loaded .*liblinker\.so.*pip install"):
        library.load(path)


# Torch computes on two threads, then GOMP_parallel runs a function on two: how many threads are there after each?
TWO_THREADS = """
import ctypes, os, threading, torch
from linker.modules.kernels import library
torch.set_num_threads(2)
torch.randn(2000, 2000).exp()
print(len(os.listdir("/proc/self/task")))
seen = set()
barrier = threading.Barrier(2, timeout=30)
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def body(_):
    barrier.wait()
    seen.add(threading.get_native_id())
run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)(library.gomp_parallel())
run(ctypes.cast(body, ctypes.c_void_p), None, 2, 0)
print(len(os.listdir("/proc/self/task")))
print(len(seen))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_no_second_pool_of_threads() -> None:
    if library.gomp_parallel() is None:
        pytest.skip("this torch runs without OpenMP")
    done = subprocess.run(
        [sys.executable, "-c", TWO_THREADS], capture_output=True, text=True, check=True, timeout=60
    )
    before, after, used = map(int, done.stdout.split())
    assert (after, used) == (before, 2)


def test_a_wheel_without_the_library_fits_all_platforms_and_takes_one_by_the_rules(
    whole: Path, tmp_path: Path
) -> None:
    spec = importlib.util.spec_from_file_location("build_wheels", ROOT / "scripts" / "build_wheels.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    setup(whole, "bdist_wheel", CXX="/nonexistent/c++")
    (pure,) = (whole / "dist").iterdir()
    assert pure.name.endswith("-py3-none-any.whl")
    assert pure.stat().st_size <= 69_000_000, "with a library of 1 MB, at most 70 MB"
    assert not [name for name in zipfile.ZipFile(pure).namelist() if "cpp" in name or name.endswith(".so")]
    (tmp_path / "liblinker.so").write_bytes(b"a library")
    wheel = script._add_library(pure, tmp_path / "liblinker.so", "one_x86_64.two_x86_64", tmp_path)
    assert wheel.name == pure.name.replace("-any.whl", "-one_x86_64.two_x86_64.whl")
    with zipfile.ZipFile(wheel) as opened:
        assert opened.read(LIBRARY.as_posix()) == b"a library"
        (about,) = [name for name in opened.namelist() if name.endswith(".dist-info/WHEEL")]
        lines = opened.read(about).decode().splitlines()
        assert lines[-3:] == [
            "Root-Is-Purelib: false",
            "Tag: py3-none-one_x86_64",
            "Tag: py3-none-two_x86_64",
        ]
        assert len([line for line in lines if line.startswith(("Tag", "Root"))]) == 3
        record = opened.read(about.replace("WHEEL", "RECORD")).decode().splitlines()
        recorded = dict(line.split(",", 1) for line in record)
        assert recorded.keys() == set(opened.namelist())
        for name in recorded.keys() - {about.replace("WHEEL", "RECORD")}:
            digest = base64.urlsafe_b64encode(hashlib.sha256(opened.read(name)).digest()).decode().rstrip("=")
            assert recorded[name] == f"sha256={digest},{len(opened.read(name))}"


def sizes(folder: Path) -> dict[Path, int]:
    return {file.relative_to(folder): file.stat().st_size for file in folder.rglob("*") if file.is_file()}


def test_an_editable_install_is_a_path_that_editors_can_follow(copy: Path) -> None:
    setup(copy, "editable_wheel", "--dist-dir", "dist", CXX="/nonexistent/c++")
    (wheel,) = (copy / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if ".dist-info/" not in name]
        assert name.endswith(".pth")
        assert archive.read(name).decode().split() == [str(copy)]
    assert (copy / "linker" / "py.typed").is_file()


def test_the_source_archive_holds_all_that_an_installed_package_needs_in_an_empty_folder(
    whole: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    setup(whole, "sdist", "--formats=tar")  # packing the weights takes long
    (archive,) = (whole / "dist").iterdir()
    with tarfile.open(archive) as opened:
        names = {name.split("/", 1)[-1] for name in opened.getnames()}
        opened.extractall(whole / "unpacked", filter="data")
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / KERNELS / "cpp").iterdir()}
    assert len(sources) > 1
    assert {"setup.py", *sources} <= names
    (source,) = (whole / "unpacked").iterdir()
    setup(source, "build_py", "--build-lib", str(whole / "installed"))
    for original in FOLDERS.values():
        installed = whole / "installed" / original.relative_to(ROOT)
        assert sizes(installed) == sizes(original)
        assert {"config.json", "README.md", "part-0"} <= {path.name for path in installed.iterdir()}
        assert max(sizes(installed).values()) > 10**6
    share = whole / "installed" / "linker" / "share"
    for name in ("configs", "data"):
        assert sizes(share / name) == sizes(ROOT / name)
    here = tmp_path_factory.mktemp("empty")
    done = subprocess.run(
        [sys.executable, "-m", "linker", "train", "configs/ast.jsonnet", "-o", "trainer.epochs=0"],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(whole / "installed")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    first, second, *_ = done.stderr.splitlines()
    assert first == (
        f"config: {share / 'configs' / 'ast.jsonnet'}, linker's own, "
        "because configs/ast.jsonnet is not in this folder"
    )
    assert second == "training configs/ast.jsonnet; the model will be in runs/ast"
    assert (here / "runs" / "ast" / "config.json").is_file()
