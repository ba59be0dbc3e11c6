"""Upload a model folder to a Hugging Face hub: what its manifest lists, and nothing else."""

import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from linker.common.errors import ModelError
from linker.common.files import json_text, local_name, read_json_object, real_path
from linker.models.files.archive import CARD, CONFIG, MANIFEST, METRICS, check_manifest, walk
from linker.models.files.hub import check_contents, hub_errors
from linker.version import __version__

# Homes of people, on any machine.
_HOMES = r"/home/[^/\s\"']+|/Users/[^/\s\"']+|/root|[A-Za-z]:\\+Users\\+[^\\\s\"']+"
_SECRETS = re.compile(
    r"\bhf_[A-Za-z0-9]{16,}|\bsk-[\w-]{20,}|\bgh[opsu]_\w{20,}|\bgithub_pat_\w{20,}|://[^/\s:@]*:[^/\s@]+@|"
    r"\"(((hf|access|auth|api)_?)?(token|password|secret)|(api|access|secret)_?key)\": *\"[^\"]+\"",
    re.IGNORECASE,
)
# Larger files are not held in memory.
_SMALL = 10 << 20


def public_files(folder: Path) -> dict[str, Path | bytes]:
    """Return what is uploaded of a model folder: name → file, or content without paths of this machine.

    Of the folder and the model folders in it, these are the manifest, the files that it lists, config, metrics and
    card. In the last three, paths of this machine are shortened to the names of their files.

    Raises:
        ModelError: if the folder is damaged or not complete in itself, or a file is a link, hidden, or holds a token or
            a path of this machine that cannot be shortened.
    """
    check_contents(str(folder), folder)
    roots = [str(path) for path in (Path.home(), Path.cwd(), real_path(folder).parent) if path.name]
    local = "|".join([*map(re.escape, sorted(roots, key=len, reverse=True)), _HOMES])
    # Not within other words: an address may hold the path.
    paths = re.compile(rf"(?<![\w.:/~-])(?:file://)?(?:{local})(?![\w-])(?P<below>[\\/][^\s\"'`,;)\]]*)?")
    files: dict[str, Path | bytes] = {}
    for manifest in sorted(folder.rglob(MANIFEST)):
        inner = manifest.parent
        check_manifest(inner)
        config = read_json_object(inner / CONFIG)
        texts = [inner / name for name in (CONFIG, METRICS, CARD) if (inner / name).exists()]
        listed = [inner / name for name in read_json_object(manifest)["sha256"]]
        for path in [manifest, *listed, *texts]:
            name = _name_within(folder, path)
            content = path.read_bytes() if path.stat().st_size < _SMALL else path
            if path in texts and path.name == CARD:
                content = paths.sub(_last, _public_text(path.read_text(encoding="utf-8"), config)).encode()
            elif path in texts:
                content = f"{json_text(_public(read_json_object(path), paths), indent=2)}\n".encode()
            files[name] = content
            text = content.decode("utf-8", "ignore") if isinstance(content, bytes) else ""
            if match := _SECRETS.search(text):
                raise ModelError(f"{path}: {match[0][:10]}… looks like a token or password; remove it")
            if root := next((root for root in roots if f"{root}/" in text), None):
                raise ModelError(
                    f"{path}: has a path of this machine, below {root}; remove it, and save the model again"
                )
    return files


def _name_within(folder: Path, path: Path) -> str:
    name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
    if any(part.startswith((".", "/")) for part in Path(name).parts):
        raise ModelError(f"{path}: a hidden file, or not in the model folder; remove it from {MANIFEST}")
    if path.is_symlink() or real_path(path) != real_path(folder) / name:
        raise ModelError(f"{path}: a link; put the file itself into the model folder")
    return name


def push_model(folder: Path, repo: str, files: Mapping[str, Path | bytes], private: bool = False) -> str:
    """Upload files of a model folder in one commit; the repository is created if it does not exist.

    Args:
        folder: the model folder.
        repo: `user/model`.
        files: those of `public_files`.
        private: create a private repository.

    Returns:
        The name that loads what was uploaded: `user/model@commit`.

    Raises:
        ModelError: if a file was changed since it was listed, the repository has another kind of model, or is public
            although `private` was given, or the hub cannot be reached or refuses.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        raise ModelError(f"{repo}: not a name on a hub; give USER/MODEL")
    operations = [CommitOperationAdd(name, content) for name, content in files.items()]
    checksums = {
        str(PurePosixPath(name).parent / listed): checksum
        for name, content in files.items()
        if name.endswith(MANIFEST) and isinstance(content, bytes)
        for listed, checksum in json.loads(content)["sha256"].items()
    }
    for operation in operations:
        name, sha256 = operation.path_in_repo, operation.upload_info.sha256.hex()
        if checksums.get(name, sha256) != sha256:
            raise ModelError(f"{folder / name}: was changed in the meantime; push again")
    api = HfApi(library_name="linker", library_version=__version__)
    with hub_errors(repo, access="write"):
        api.create_repo(repo, private=private or None, exist_ok=True)
        if private and not api.model_info(repo).private:
            raise ModelError(
                f"{repo}: exists and is public; make it private on the hub, or leave out --private"
            )
        present = api.list_repo_files(repo)
        if CONFIG in present and MANIFEST not in present:
            raise ModelError(f"{repo}: has a model of another library; push to a new name")
        commit = api.create_commit(
            repo, operations, commit_message=f"Upload {repo}, a model of linker {__version__}"
        )
    return f"{repo}@{commit.oid}"


def _public(value: Any, paths: re.Pattern[str]) -> Any:
    """Return values of a config in which each path of this machine is the name of its file."""
    if isinstance(value, dict):
        return {_public(key, paths): _public(item, paths) for key, item in value.items()}
    if isinstance(value, list):
        return [_public(item, paths) for item in value]
    if not isinstance(value, str):
        return value
    return paths.sub(_last, value) if paths.fullmatch(value) else local_name(value) or paths.sub(_last, value)


def _last(match: re.Match[str]) -> str:
    """Return the name of a file below a home or another folder of this machine; of the folder itself, `~`."""
    return re.split(r"[\\/]", (match["below"] or "").rstrip("\\/"))[-1] or "~"


def _public_text(text: str, config: Any) -> str:
    """Return a text with the names of files in place of the paths of this machine that a config has."""
    paths = {value: name for value in walk(config) if isinstance(value, str) and (name := local_name(value))}
    longest_first = "|".join(map(re.escape, sorted(paths, key=len, reverse=True)))
    # Not within other words: an address may hold the path.
    whole = rf"(?<![\w.:/~-])(?:{longest_first})(?![\w/-])"
    return re.sub(whole, lambda match: paths[match[0]], text) if paths else text
