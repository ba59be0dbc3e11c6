"""Model folders on a Hugging Face hub: download, and upload with a model card."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from linker.common.console import info, stderr
from linker.common.errors import DataError, ModelError
from linker.common.files import read_json_object
from linker.models.files.archive import CARD, CONFIG, MANIFEST, METRICS, check_manifest, read_config
from linker.models.files.model_card import hub_card, walk
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

    Only the files that its manifest lists are downloaded, beside config, metrics and card, and checked against the
    manifest. `HF_ENDPOINT`, `HF_TOKEN`, `HF_HOME` and `HF_HUB_OFFLINE` work as for every program that uses
    huggingface_hub. One line on standard error states the commit, unless `name` has it and the cache all files.

    Args:
        name: `user/model`, or `user/model@revision` with a branch, a tag or the hash of a commit.
        connect: connect to the hub; else the model must be in the cache.

    Returns:
        The name with the commit, `user/model@commit`, and the folder in the cache.

    Raises:
        ModelError: if the model is not found, not one of linker, damaged or not complete in itself, or the hub cannot
            be reached or asks for a token.
    """
    from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    repo, revision = split_hub_name(name)
    is_commit = revision is not None and re.fullmatch(r"[0-9a-f]{40}", revision) is not None
    cached = is_commit and isinstance(try_to_load_from_cache(repo, MANIFEST, revision=revision), str)

    def get(file: str, revision: str | None) -> Path:
        options: dict[str, Any] = {"library_name": "linker", "library_version": __version__}
        try:
            return Path(
                hf_hub_download(repo, file, revision=revision, local_files_only=not connect, **options)
            )
        except LocalEntryNotFoundError:
            raise
        except EntryNotFoundError as error:
            raise ModelError(
                f"{name}: not a model of linker, {file} is missing; a sentence-transformers model is used by a config "
                '{"type": "sentence_transformer", "path": "USER/MODEL"}'
            ) from error

    with _messages(name, "read", connect):
        folder = get(CONFIG, revision).parent
        commit = folder.name
        try:
            model = read_config(folder)["model"]
        except ModelError as error:
            raise ModelError(f"{name}: not a model of linker ({error})") from error
        _check_contained(name, model)
        for file in _listed(lambda file: get(file, commit), name):
            get(file, commit)
        for file in (METRICS, CARD):
            with suppress(ModelError, EntryNotFoundError):
                get(file, commit)
    try:
        check_manifest(folder)
    except ModelError as error:
        raise ModelError(
            f"{name}: {error}; if it is wrong again after `hf cache rm model/{repo}`, it was changed on the hub: "
            "do not use it, and write to its author"
        ) from error
    if connect and not cached:
        origin = "the local cache" if constants.HF_HUB_OFFLINE else constants.ENDPOINT
        info(f"model {repo}: revision {commit}, from {origin}")
    return f"{repo}@{commit}", folder


def push_model(
    folder: Path,
    repo: str,
    *,
    private: bool = False,
    revision: str | None = None,
    message: str | None = None,
    license: str | None = None,
    languages: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    evaluation: Path | None = None,
) -> str:
    """Upload a model folder to a Hugging Face hub in one commit, with a model card made from what the folder knows.

    The repository is created if it does not exist. Absolute paths in `config.json` and in the card are shortened to the
    names of their files, so that no folder of this machine becomes public. The model itself must load; callers check
    that.

    Args:
        folder: a model folder.
        repo: `user/model`.
        private: create a private repository.
        revision: branch to commit to, created if it does not exist; None: `main`.
        message: message of the commit; None: it names the version of linker.
        license: identifier of the license, such as `apache-2.0`; None: that of the front matter of `README.md`, if any.
        languages: language codes, such as `en`; None: those of the config, if it names any.
        datasets: names of data sets on the hub that the model was trained on.
        evaluation: results of `linker evaluate --json`, which give the card the figures of baselines.

    Returns:
        The name that loads what was uploaded: `user/model@commit`.

    Raises:
        ModelError: if the folder is damaged or not complete in itself, the repository has another kind of model or is
            public although `private` was given, or the hub cannot be reached or refuses.
        DataError: if `evaluation` does not contain results of `linker evaluate`.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo):
        raise ModelError(f"{repo}: not a name on a hub; give USER/MODEL")
    config = read_config(folder)
    _check_contained(str(folder), config["model"])
    check_manifest(folder)
    card = hub_card(folder, repo, license, languages, datasets, evaluation)
    contents: dict[str, Any] = {
        CONFIG: _public(json.dumps(config, indent=2, ensure_ascii=False) + "\n", config),
        CARD: _public(card, config),
    }
    names = [CONFIG, MANIFEST, CARD, *_listed(lambda file: folder / file, str(folder))]
    names += [METRICS] if (folder / METRICS).is_file() else []
    operations = [
        CommitOperationAdd(name, contents.get(name, folder / name)) for name in dict.fromkeys(names)
    ]
    api = HfApi(library_name="linker", library_version=__version__)
    with _messages(repo, "write"):
        api.create_repo(repo, private=private or None, exist_ok=True)
        if private and not api.model_info(repo).private:
            raise ModelError(
                f"{repo}: exists and is public; make it private in its settings on the hub, or push without --private"
            )
        if revision is not None:
            api.create_branch(repo, branch=revision, exist_ok=True)
        present = api.list_repo_files(repo, revision=revision)
        if CONFIG in present and MANIFEST not in present:
            raise ModelError(f"{repo}: has a model of another library; push to a new name")
        commit = api.create_commit(
            repo,
            operations,
            commit_message=message or f"Upload a model of linker {__version__}",
            revision=revision,
        )
    return f"{repo}@{commit.oid}"


def _listed(locate: Callable[[str], Path], name: str) -> list[str]:
    """Return the files of a model that its manifest lists, and those of the manifests of model folders in it.

    Args:
        locate: returns where a manifest or config is, after downloading it if necessary.
        name: of the model, for messages.
    """
    files, waiting = [], [MANIFEST]
    while waiting:
        manifest = PurePosixPath(waiting.pop())
        try:
            listed = read_json_object(locate(str(manifest))).get("sha256")
        except DataError as error:
            raise ModelError(f"{name}: {error}") from error
        if not isinstance(listed, dict):
            raise ModelError(f"{name}: its {manifest} is not the manifest of a model folder")
        for file in listed:
            path = PurePosixPath(file)
            if path.suffix not in _SUFFIXES or path.is_absolute() or ".." in path.parts or "\\" in file:
                raise ModelError(
                    f"{name}: its {manifest} lists {file}, which is neither weights in safetensors or ONNX nor text; "
                    "other files may run code, and nothing was loaded"
                )
            files.append(str(manifest.parent / path))
            if path.name == MANIFEST:
                waiting.append(files[-1])
                files.append(str(manifest.parent / path.parent / CONFIG))
    return files


def _check_contained(name: str, config: Any) -> None:
    """Check that a model needs no other model that its folder only names."""
    for part in walk(config):
        if isinstance(part, dict) and part.get("type") == _NOT_CONTAINED:
            raise ModelError(
                f"{name}: has a {_NOT_CONTAINED}, whose weights are those of {part.get('path')} and not in the "
                "folder; train a transformer from it, whose folder has them"
            )


def _public(text: str, config: Any) -> bytes:
    """Return a text with the names of files in place of the absolute paths in a config, as such or in JSON."""
    paths = {value for value in walk(config) if isinstance(value, str) and os.path.isabs(value)}
    for path in sorted(filter(lambda path: Path(path).name, paths), key=len, reverse=True):
        for form in (path, json.dumps(path, ensure_ascii=False)[1:-1]):
            text = text.replace(form, Path(path).name)
    return text.encode()


@contextmanager
def _messages(name: str, access: str, connect: bool = True) -> Iterator[None]:
    """Turn errors of huggingface_hub into messages; its progress bars are shown on terminals only.

    Args:
        name: the model.
        access: `read` or `write`.
        connect: whether the hub may be asked.
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
        raise ModelError(f"{name}: {_problem(error, name.partition('@')[0], access, connect)}") from error
    finally:
        utils.logging.set_verbosity(verbosity)
        if silent:
            utils.enable_progress_bars()


def _problem(error: Exception, repo: str, access: str, connect: bool) -> str:
    """Return what is wrong and what to do about an error of huggingface_hub; see `_messages`."""
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
        return f"not in the local cache, and {unreachable}" if access == "read" else unreachable
    if isinstance(error, errors.HfHubHTTPError):
        if error.response.status_code in (401, 403):
            return f"{hub} does not permit to {access} it; {login}"
        return f"{hub} answers with an error ({reason}); try again later"
    return unreachable if isinstance(error, OSError | errors.HTTPError) else f"refused ({reason})"
