"""Files: written completely or not at all, read with the file's name in the error."""

import errno
import gzip
import hashlib
import json
import os
import re
import signal
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import FrameType
from typing import IO, Any

from linker.common.errors import DataError, LinkerError

#: Error numbers of a full disk, an exhausted quota, and the size limit of a file.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: Types of file systems on network drives.
_NETWORK = (
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "ceph", "glusterfs", "lustre", "beegfs", "gpfs", "sshfs",
    "rclone",
)  # fmt: skip


@contextmanager
def atomic_write(path: str | Path, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file next to `path` that replaces it only if the block succeeds.

    Text is UTF-8 with `\\n` line ends. On any error, and if the process ends meanwhile (`linker.__main__`), the
    temporary file is removed and `path` keeps its old content. A pipe or device (`/dev/stdout`) is written directly; if
    `path` is a link, its target is replaced.

    Args:
        path: the file.
        mode: as for `open`: `w` or `wb`.

    Raises:
        LinkerError: if the folder cannot be written to, or the disk is full.
    """
    path, temporary = Path(path), None
    target = real_path(path)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        opened: int | Path = path
        if not _is_special(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            opened, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        file = open(opened, mode, **text)  # type: ignore[call-overload]  # noqa: SIM115
    except OSError as error:
        raise LinkerError(f"{path}: cannot be written ({error.strerror})") from error
    remove = weakref.finalize(file, Path(temporary).unlink, missing_ok=True) if temporary else None
    try:
        with file:
            yield file
            file.flush()
            if temporary:
                os.fsync(file.fileno())
        if temporary is None or remove is None:
            return
        # mkstemp makes private files; give the result the rights a plain open() would have given it.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        try:
            os.replace(temporary, target)
            remove.detach()
        except IsADirectoryError as error:
            raise LinkerError(f"{path}: cannot be written, a folder has this name; move it away") from error
    except BaseException as error:
        if remove:
            remove()
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            reason = f"{path}: cannot be written ({error.strerror}); make room and try again"
            raise LinkerError(reason) from error
        raise


def _is_special(path: Path) -> bool:
    """Return whether the path is neither a file nor a folder: nothing may replace `/dev/null`."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


@contextmanager
def unbroken() -> Iterator[None]:
    """Defer Ctrl-C and SIGTERM until the block has ended, so that files that belong together are written together."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        pressed.append(number)

    before = {number: signal.signal(number, remember) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if pressed:
        signal.raise_signal(pressed[0])


def real_path(path: str | Path) -> Path:
    """Return the absolute path without links; of a loop, the path itself (`Path.resolve` raises before 3.13)."""
    return Path(os.path.realpath(path))


def local_name(path: str) -> str:
    """Return the name of a file if its path says where on this machine it is; else an empty string."""
    path = path.removeprefix("file://")
    if re.match(r"[A-Za-z]:[\\/]|\\\\", path):
        return PureWindowsPath(path).name
    return PurePosixPath(path).name if re.match(r"/|~[^/\s]*/|\.\./", path) else ""


def is_network_drive(path: Path) -> bool:
    """Return whether a file is on a network drive, where processes of several machines share no memory.

    Linux has a table of mounted file systems; on other systems only UNC paths of Windows are recognized.
    """
    target = str(real_path(path))
    if target.startswith("\\\\"):
        return True
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    rows = map(str.split, mounts.splitlines())
    types = {row[1].replace("\\040", " "): row[2] for row in rows if len(row) > 2}
    mount = next((folder for folder in map(str, Path(target).parents) if folder in types), "")
    return types.get(mount, "").removeprefix("fuse.") in _NETWORK


def check_regular_files(folder: Path, error: type[LinkerError] = DataError) -> None:
    """Check that a folder has files and folders only: reading a pipe may never end, and a device may be endless.

    Raises:
        LinkerError: `error`, if there is anything else in it, or below, all of which is listed. Broken links are not
            reported.
    """
    odd: list[Path] = []
    folders = [str(folder)]
    while folders:  # not by `os.walk`: there may be thousands of files, whose types `scandir` knows
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file() and not entry.is_dir() and os.path.exists(entry.path):
                    odd.append(Path(entry.path))
    if odd:
        shown = ", ".join(map(str, sorted(odd)[:3])) + (", ..." if len(odd) > 3 else "")
        raise error(f"{shown}: not a file; delete it, and put back a copy of the file")


def check_writable(path: str | Path, inputs: Iterable[str | Path] = ()) -> None:
    """Check before any work begins that a file can be written.

    Args:
        path: the file.
        inputs: paths that must not be overwritten; those that do not exist are ignored.

    Raises:
        LinkerError: if `path` is a folder or an input, or cannot be created.
    """
    path = Path(path)
    if path.is_dir():
        raise LinkerError(f"{path}: is a folder; give the name of a file to write")
    if os.path.exists(path) and any(os.path.exists(name) and path.samefile(name) for name in inputs):
        raise LinkerError(f"{path}: would overwrite an input; give another name")
    if _is_special(path):
        if not os.access(path, os.W_OK):
            raise LinkerError(f"{path}: cannot be written (no permission)")
        return
    above = next(folder for folder in path.absolute().parents if os.path.exists(folder))
    if not above.is_dir():
        raise LinkerError(f"{path}: cannot be written ({above} is not a folder)")
    if not os.access(above, os.W_OK):
        raise LinkerError(f"{path}: cannot be written (no permission in {above})")


def check_output_folder(folder: Path, files: Iterable[str]) -> None:
    """Check that a folder is new, empty, or holds only these files (of an earlier run); hidden ones do not count.

    Raises:
        LinkerError: if it is a file, or has other files.
    """
    if folder.exists() and not folder.is_dir():
        raise LinkerError(f"{folder}: is a file; give a folder to write to")
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if others := sorted(name for name in names - set(files) if not name.startswith(".")):
        raise LinkerError(
            f"{folder}: has other files ({', '.join(others[:3])}); give a new folder with --out"
        )


def read_sections(path: Path) -> dict[str, list[str]]:
    """Read a file of data: its lines by the section (`[name]`) in which they are, without comments (`;`)."""
    sections: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line[1:-1], [])
        elif line and not line.startswith(";"):
            lines.append(line)
    return sections


def read_word_lists(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a file of data: its words by section, see `read_sections`."""
    return {name: tuple(" ".join(lines).split()) for name, lines in read_sections(path).items()}


def write_json(path: Path, content: Any) -> None:
    """Write JSON for people, atomically: indented, Unicode as it is, a newline at the end."""
    with atomic_write(path) as file:
        file.write(json_text(content, indent=2) + "\n")


def json_text(content: Any, indent: int | None = None) -> str:
    """Return JSON with Unicode as it is; with escapes if names of files that are not UTF-8 are in it."""
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # bytes that are not UTF-8 are lone surrogates: escaping keeps them
        return json.dumps(content, indent=indent)
    return text


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines with their line ends atomically, compressed if the name ends in `.gz`; the bytes are reproducible."""
    with (
        atomic_write(path, "wb") as file,
        # Without a file name and a time in the gzip header.
        gzip.GzipFile("", "wb", 6, file, mtime=0) if path.suffix == ".gz" else nullcontext(file) as target,
    ):
        for line in lines:
            target.write(line.encode())


def read_json_object(
    path: Path, remedy: str = "put back a copy of it", error: type[LinkerError] = DataError
) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Raises:
        LinkerError: `error`, if the file cannot be read or holds anything else, with its name and the remedy.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise error(f"{path}: cannot be read as JSON ({fault}); {remedy}") from fault
    if not isinstance(content, dict):
        raise error(f"{path}: not a JSON object; {remedy}")
    return content


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
