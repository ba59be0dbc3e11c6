"""Model folders from a Hugging Face hub."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from linker.common.console import info, stderr
from linker.common.errors import DataError, ModelError
from linker.common.files import read_json_object
from linker.models.files.archive import CARD, CONFIG, MANIFEST, check_manifest, read_config, walk
from linker.version import __version__

_NAME = re.compile(r"(\w[\w.-]*/\w[\w.-]*)(?:@(\w[\w./-]*))?")
#: Weights that run no code, and text; a manifest that lists anything else is refused.
_SUFFIXES = frozenset({".json", ".jinja", ".model", ".onnx", ".safetensors", ".txt"})
_CONFIGS = (".json", ".jsonnet")
# Its weights are those of another model, which the folder only names.
_NOT_CONTAINED = "sentence_transformer"


def is_hub_name(text: str) -> bool:
    """Return whether a model's name is that of a model on a hub: `user/model` or `user/model@revision`.

    A path that exists, and one in a folder that exists (unless it has a revision), is not.
    """
    path = Path(text)
    return (
        _NAME.fullmatch(text) is not None
        and path.suffix not in _CONFIGS
        and not os.path.lexists(path)
        and ("@" in text or not path.parent.is_dir())
    )


def split_hub_name(name: str) -> tuple[str, str | None]:
    """Return the model and the revision of a name on a hub: `user/model`, and the part after `@`, else None."""
    match = _NAME.fullmatch(name)
    assert match is not None
    return match[1], match[2]


def download_model(name: str, connect: bool = True) -> tuple[str, Path]:
    """Download a model folder from a Hugging Face hub, or find it in the local cache.

    Only config, metrics, card, text and weights that run no code are downloaded, and checked against the manifest.
    `HF_ENDPOINT`, `HF_TOKEN`, `HF_HOME` and `HF_HUB_OFFLINE` work as for every program that uses huggingface_hub. One
    line on standard error states the commit, unless `name` has it and the cache all files.

    Args:
        name: `user/model`, or `user/model@revision` with a branch, a tag or the hash of a commit.
        connect: connect to the hub; else the model must be in the cache.

    Returns:
        The name with the commit, `user/model@commit`, and the folder in the cache.

    Raises:
        ModelError: if the model is not found, not one of linker, damaged or not complete in itself, or the hub cannot
            be reached or asks for a token.
    """
    from huggingface_hub import constants, hf_hub_download, snapshot_download
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    repo, revision = split_hub_name(name)
    options: dict[str, Any] = {"library_name": "linker", "library_version": __version__}
    options["local_files_only"] = not connect
    with hub_errors(name, connect):
        for file in (CONFIG, MANIFEST):
            try:
                folder = Path(hf_hub_download(repo, file, revision=revision, **options)).parent
            except LocalEntryNotFoundError:
                raise
            except EntryNotFoundError as error:
                raise ModelError(
                    f"{name}: not a model of linker, {file} is missing; a sentence-transformers model is used by a "
                    'config {"type": "sentence_transformer", "path": "USER/MODEL"}'
                ) from error
            revision = folder.name
        check_contents(name, folder)
        downloads = connect and not _is_whole(folder)
        if downloads:
            patterns = [CARD, *(f"*{suffix}" for suffix in _SUFFIXES)]
            snapshot_download(repo, revision=revision, allow_patterns=patterns, **options)
    try:
        for manifest in folder.rglob(MANIFEST):
            check_manifest(manifest.parent)
    except ModelError as error:
        raise ModelError(
            f"{name}: {error}; if it is wrong again after `hf cache rm model/{repo}`, it was changed on the hub: "
            "do not use it, and write to its author"
        ) from error
    if connect and (downloads or not name.endswith(f"@{revision}")):
        origin = "the local cache" if constants.HF_HUB_OFFLINE else constants.ENDPOINT
        info(f"model {repo}: revision {revision}, from {origin}")
    return f"{repo}@{revision}", folder


def _is_whole(folder: Path) -> bool:
    """Return whether all files that manifests list are there."""
    manifests = [
        (manifest.parent, read_json_object(manifest)["sha256"]) for manifest in folder.rglob(MANIFEST)
    ]
    return all((inner / file).is_file() for inner, files in manifests for file in files)


def check_contents(name: str, folder: Path) -> None:
    """Check that a model needs no other model that its folder only names, and has weights and text only."""
    try:
        model = read_config(folder)["model"]
        files = read_json_object(folder / MANIFEST).get("sha256")
    except (ModelError, DataError) as error:
        raise ModelError(f"{name}: not a model of linker ({error})") from error
    for part in walk(model):
        if isinstance(part, dict) and part.get("type") == _NOT_CONTAINED:
            raise ModelError(
                f"{name}: has a {_NOT_CONTAINED}, whose weights are those of {part.get('path')} and not in the "
                "folder; train a transformer from it, whose folder has them"
            )
    if not isinstance(files, dict):
        raise ModelError(f"{name}: its {MANIFEST} is not the manifest of a model folder")
    for file in files:
        path = PurePosixPath(file)
        if path.suffix not in _SUFFIXES or path.is_absolute() or ".." in path.parts or "\\" in file:
            raise ModelError(
                f"{name}: its {MANIFEST} lists {file}, which is neither weights in safetensors or ONNX nor text; "
                "other files may run code, and nothing was loaded"
            )


@contextmanager
def hub_errors(name: str, connect: bool = True, access: str = "read") -> Iterator[None]:
    """Turn errors of huggingface_hub into messages; its progress bars are shown on terminals only.

    Args:
        name: the model.
        connect: whether the hub may be asked.
        access: `read` or `write`.
    """
    from huggingface_hub import utils
    from huggingface_hub.errors import HTTPError

    verbosity = utils.logging.get_verbosity()
    utils.logging.set_verbosity_error()  # of each attempt to connect it would warn
    silent = not stderr.is_terminal and not utils.are_progress_bars_disabled()
    if silent:
        utils.disable_progress_bars()
    try:
        yield
    except (OSError, HTTPError, ValueError) as error:
        raise ModelError(f"{name}: {_problem(error, name.partition('@')[0], connect, access)}") from error
    finally:
        utils.logging.set_verbosity(verbosity)
        if silent:
            utils.enable_progress_bars()


def _problem(error: Exception, repo: str, connect: bool, access: str) -> str:
    """Return what is wrong and what to do about an error of huggingface_hub; see `hub_errors`."""
    from huggingface_hub import constants, errors

    hub, cause = constants.ENDPOINT, error
    while isinstance(cause.__cause__, Exception):
        cause = cause.__cause__
    reason = (str(cause).strip() or type(cause).__name__).split("\n")[0].rstrip(".")
    login = f"set HF_TOKEN to a token that may {access} it, or type: hf auth login"
    unreachable = f"{hub} cannot be reached ({reason}); check the connection and HF_ENDPOINT"
    if isinstance(error, errors.GatedRepoError):
        return f"access must be granted on {hub}/{repo} first; then {login}"
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"not found on {hub}, or private; check the name, and for a private model {login}"
    if isinstance(error, errors.RevisionNotFoundError):
        return f"revision not found on {hub}; give a branch, a tag or the full hash of a commit"
    if isinstance(error, (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled)):
        if constants.HF_HUB_OFFLINE:
            unreachable = "HF_HUB_OFFLINE is set; unset it to connect"
        elif not connect:
            unreachable = f"nothing is downloaded that this command does not name; type: hf download {repo}"
        return f"not in the local cache, and {unreachable}"
    if isinstance(error, errors.HfHubHTTPError):
        if error.response.status_code in (401, 403):
            return f"{hub} does not permit to {access} it; {login}"
        return f"{hub} answers with an error ({reason}); try again later"
    return unreachable if isinstance(error, OSError | errors.HTTPError) else f"refused ({reason})"
