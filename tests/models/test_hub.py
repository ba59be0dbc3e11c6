"""Models on a Hugging Face hub, here one on loopback: what is loaded, what is refused."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants, file_download, utils

import linker
from linker.common.errors import ModelError
from linker.common.files import sha256_of
from linker.models.files.archive import MANIFEST, write_manifest
from linker.models.files.hub import is_hub_name
from linker.models.files.publishing import public_files, push_model
from linker.models.files.resolve import resolve_model
from linker.models.pretrained import DISTILLED, FOLDERS
from tests.helpers.loopback_hub import TOKEN, Hub, Repository, hub_on_loopback

ROOT = Path(__file__).parents[2]
ARTICLE, POSTS = "Otters return to the river.", ["an otter in the river", "the match tonight", "bridges"]
WEIGHTS = "part-0/model.safetensors"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """An empty hub that this process uses, with an empty cache and a token that may write."""
    monkeypatch.chdir(tmp_path)
    with hub_on_loopback() as hub:
        template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
        for name, value in {
            "ENDPOINT": hub.address,
            "HUGGINGFACE_CO_URL_TEMPLATE": template,
            "HF_HUB_CACHE": str(tmp_path / "cache"),
            "HF_HUB_OFFLINE": False,
            "HF_HUB_DISABLE_XET": True,
        }.items():
            monkeypatch.setattr(constants, name, value)
        # Versions before 1.0 read the template from here.
        monkeypatch.setattr(file_download, "HUGGINGFACE_CO_URL_TEMPLATE", template, raising=False)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        forget_sessions()
        yield hub


def forget_sessions() -> None:
    """Let huggingface_hub see another HF_HUB_OFFLINE: versions before 1.0 read it once per session."""
    getattr(utils, "reset_sessions", lambda: None)()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(FOLDERS[DISTILLED], tmp_path / "mine")


def scores(name: str | Path) -> np.ndarray:
    return linker.load(name).score(ARTICLE, POSTS)


def uploaded(hub: Hub, folder: Path, branch: str = "main") -> str:
    """Add the files of a folder to `user/model`, as `hf upload` does; return the name with the commit."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    return f"user/model@{hub.repositories.setdefault('user/model', Repository()).commit(branch, files)}"


def change(hub: Hub, name: str, content: bytes | None) -> None:
    """Put another content, or None for no file, into the newest commit of a model."""
    files = hub.files("user/model")
    if content is None:
        del files[name]
    else:
        files[name] = content


def add_to_manifest(hub: Hub, name: str, content: bytes) -> None:
    manifest = json.loads(hub.files("user/model")[MANIFEST])
    manifest["sha256"][name] = "0" * 64
    change(hub, MANIFEST, json.dumps(manifest).encode())
    change(hub, name, content)


def test_what_is_uploaded_loads_with_the_same_scores(hub: Hub, folder: Path, capsys) -> None:
    name = uploaded(hub, folder)
    found = hub.repositories["user/model"]
    expected = scores(folder)
    np.testing.assert_array_equal(scores("user/model"), expected)
    assert (
        f"model user/model: revision {found.branches['main']}, from {hub.address}" in capsys.readouterr().err
    )
    hub.requests.clear()
    np.testing.assert_array_equal(scores(name), expected)
    assert hub.requests == []  # a commit in the cache needs no connection
    assert capsys.readouterr().err == ""


def test_an_old_revision_stays_what_it_was(hub: Hub, folder: Path) -> None:
    first, old = uploaded(hub, folder), scores(folder)
    config = json.loads((folder / "config.json").read_text())
    config["model"]["temperature"] = 0.5
    (folder / "config.json").write_text(json.dumps(config))
    uploaded(hub, folder)
    uploaded(hub, folder, "trial")
    np.testing.assert_array_equal(scores(first), old)
    for name in ("user/model", "user/model@trial"):
        assert not np.array_equal(scores(name), old)


def test_no_code_and_no_pickles_are_fetched(hub: Hub, folder: Path, tmp_path: Path) -> None:
    uploaded(hub, folder)
    change(hub, "evil.py", b"print('ran')")
    change(hub, "pytorch_model.bin", pickle.dumps({"a": 1}))
    scores("user/model")
    cached = {path.name for path in (tmp_path / "cache").rglob("*")}
    assert "config.json" in cached
    assert not cached & {"evil.py", "pytorch_model.bin"}
    assert not [line for line in hub.requests if "evil" in line or ".bin" in line]


@pytest.mark.parametrize(
    "name", ["weights.bin", "part-0/model.pkl", "../model.txt", "/tmp/model.txt", "run.py"]
)
def test_a_manifest_that_lists_anything_but_weights_and_text_is_refused(
    hub: Hub, folder: Path, name: str
) -> None:
    uploaded(hub, folder)
    add_to_manifest(hub, name, pickle.dumps({"a": 1}))
    hub.requests.clear()
    with pytest.raises(ModelError, match=rf"user/model: its manifest\.json lists {name}, .*may run code"):
        linker.load("user/model")
    assert not [line for line in hub.requests if name in line]


def test_a_file_that_was_changed_on_the_hub_is_refused(hub: Hub, folder: Path) -> None:
    uploaded(hub, folder)
    content = bytearray(hub.files("user/model")[WEIGHTS])
    content[-1] ^= 1
    change(hub, WEIGHTS, bytes(content))
    with pytest.raises(
        ModelError, match=r"user/model: .*model\.safetensors: does not match its checksum .*hf cache rm"
    ):
        linker.load("user/model")


def test_a_file_that_was_changed_in_the_cache_is_refused(hub: Hub, folder: Path, tmp_path: Path) -> None:
    name = uploaded(hub, folder)
    scores(name)
    (found,) = (tmp_path / "cache").rglob("vocabulary.txt")
    found.resolve().write_text("changed\n")
    with pytest.raises(ModelError, match=r"vocabulary\.txt: does not match its checksum"):
        linker.load(name)


@pytest.mark.parametrize("missing", ["config.json", "manifest.json"])
def test_a_model_of_another_library_is_one_message(hub: Hub, folder: Path, missing: str) -> None:
    uploaded(hub, folder)
    change(hub, missing, None)
    with pytest.raises(ModelError, match=rf"user/model: not a model of linker, {missing} is missing"):
        linker.load("user/model")


def test_the_config_of_another_library_is_one_message(hub: Hub) -> None:
    hub.repositories["user/model"] = Repository()
    hub.repositories["user/model"].commit(
        "main", {"config.json": b'{"model_type": "bert"}', "manifest.json": b"{}"}
    )
    with pytest.raises(ModelError, match=r"user/model: not a model of linker \(.*config\.json"):
        linker.load("user/model")


def test_a_model_that_needs_another_one_is_not_loaded(hub: Hub, folder: Path) -> None:
    uploaded(hub, folder)
    config = json.loads((folder / "config.json").read_text())
    config["model"]["model"]["parts"] = [{"type": "sentence_transformer", "path": "other/model"}]
    change(hub, "config.json", json.dumps(config).encode())
    hub.requests.clear()
    with pytest.raises(ModelError, match=r"weights are those of other/model and not in the folder"):
        linker.load("user/model")
    assert not [line for line in hub.requests if "other" in line or "safetensors" in line]


def test_private_gated_and_missing_models_are_one_message_each(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploaded(hub, folder)
    hub.repositories["user/model"].private = True
    with pytest.raises(ModelError, match=r"user/model@v9: revision not found on http"):
        linker.load("user/model@v9")
    with pytest.raises(ModelError, match=r"user/none: not found on http.*HF_TOKEN"):
        linker.load("user/none")
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(ModelError, match=r"user/model: not found on http.*or private.*HF_TOKEN"):
        linker.load("user/model")
    hub.repositories["user/model"].private = False
    hub.repositories["user/model"].gated = True
    with pytest.raises(ModelError, match=r"user/model: access must be granted on http.*/user/model first"):
        linker.load("user/model")


def test_offline_the_cache_is_enough(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    uploaded(hub, folder)
    expected = scores("user/model")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    forget_sessions()
    capsys.readouterr()
    hub.requests.clear()
    np.testing.assert_array_equal(scores("user/model"), expected)
    assert hub.requests == []
    assert ", from the local cache" in capsys.readouterr().err
    with pytest.raises(ModelError, match=r"user/none: not in the local cache, and HF_HUB_OFFLINE is set"):
        linker.load("user/none")


def test_a_local_folder_goes_before_the_hub(hub: Hub, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "user/model")
    scores("user/model")
    assert hub.requests == []


def test_what_is_a_name_on_a_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs/mine").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    names = "user/model user/model@v1.0 user/model@refs/pr/1 sentence-transformers/all-MiniLM-L6-v2 runs/model@main"
    others = "best user/model/part ./model ../model /model configs/model.jsonnet https://hub.example/user/model runs"
    # A slip of the pen in a folder that exists is not sent to a hub.
    others += " runs/mine runs/model"
    assert [text for text in f"{names} {others}".split() if is_hub_name(text)] == names.split()


def test_a_name_that_is_nothing_gets_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ModelError, match=r"runs/model: model not found; .*USER/MODEL .*hub, where runs/model@main would be"
    ):
        resolve_model("runs/model")
    with pytest.raises(ModelError, match=r"^bset: model not found; .* or USER/MODEL on a Hugging Face hub$"):
        resolve_model("bset")


def test_a_corpus_names_the_commit_and_never_connects_by_itself(
    hub: Hub, folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("lance", reason="needs the extra corpus")
    from linker.corpus.builder import build_corpus
    from linker.corpus.corpus import Corpus
    from linker.data.io.columns import PostColumns

    name = uploaded(hub, folder)
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in POSTS))
    build_corpus(tmp_path / "corpus", [str(tmp_path / "posts.jsonl")], "user/model", PostColumns())
    hub.requests.clear()
    assert len(Corpus.open(tmp_path / "corpus")) == len(POSTS)
    shutil.rmtree(tmp_path / "cache")
    with pytest.raises(ModelError, match=rf"no longer at {name}; give its location with --model"):
        Corpus.open(tmp_path / "corpus")
    assert hub.requests == []
    assert len(Corpus.open(tmp_path / "corpus", model="user/model")) == len(POSTS)


def run(hub: Hub, home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as users do, with the variables that every program for hubs reads."""
    ours = {"HF_ENDPOINT": hub.address, "HF_HOME": str(home), "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return subprocess.run(
        [sys.executable, "-m", "linker", *arguments],
        capture_output=True,
        text=True,
        env={**kept, **ours, "PYTHONPATH": str(ROOT), **environment},
        cwd=home,
    )


@pytest.mark.slow
def test_the_command_line_loads_and_reports_errors(hub: Hub, folder: Path, tmp_path: Path) -> None:
    sample = [
        "--article",
        str(ROOT / "data/wolf.html"),
        "--posts",
        str(ROOT / "data/posts.jsonl"),
        "--top",
        "3",
    ]
    name = uploaded(hub, folder)
    ours = run(hub, tmp_path, "rank", *sample, "--model", "mine").stdout
    assert ours
    for model, variables in (
        ("user/model", {}),
        ("user/model", {"HF_HUB_OFFLINE": "1"}),
        (name, {"HF_ENDPOINT": "http://127.0.0.1:9"}),
    ):
        result = run(hub, tmp_path, "rank", *sample, "--model", model, **variables)
        assert (result.returncode, result.stdout) == (0, ours), result.stderr
        # Neither bars nor warnings of huggingface_hub.
        lines = [line for line in result.stderr.splitlines() if "user/model" in line or "http" in line]
        assert len(lines) == (model == "user/model"), result.stderr
    pushed = run(hub, tmp_path, "model", "push", "mine", "user/pushed")
    assert pushed.stdout == f"user/pushed@{hub.repositories['user/pushed'].branches['main']}\n", pushed.stderr
    assert "config.json: " in pushed.stderr
    for arguments, variables, message in (
        (("model", "push", "mine", "user/new"), {"HF_TOKEN": "wrong"}, "does not permit to write"),
        (("rank", *sample, "--model", "user/none"), {}, "not found on http"),
        (("rank", *sample, "--model", "user/none"), {"HF_TOKEN": "wrong"}, "not found on http"),
        (
            ("rank", *sample, "--model", "user/none"),
            {"HF_ENDPOINT": "http://127.0.0.1:9"},
            "cannot be reached",
        ),
        (("rank", *sample, "--model", "user/none"), {"HF_HUB_OFFLINE": "1"}, "not in the local cache"),
    ):
        result = run(hub, tmp_path, *arguments, **variables)
        assert result.returncode == 2
        assert "Traceback" not in result.stderr
        errors = [line for line in result.stderr.splitlines() if line.startswith("error: user/")]
        assert len(errors) == 1, result.stderr
        assert message in errors[0]


def test_a_push_uploads_what_manifests_list_without_paths_of_this_machine(hub: Hub, folder: Path) -> None:
    inner = folder / "part-0/inner"  # a model folder in it
    shutil.copytree(FOLDERS[DISTILLED], inner)
    for config in (folder / "config.json", inner / "config.json"):
        content = json.loads(config.read_text())
        content["data"] = {"paths": [str(Path.home() / "study/posts.jsonl"), "~/secret/a.csv", "../b.csv"]}
        content["from"] = ["C:\\Users\\ann\\c.csv", "/", "A: b", "https://x.org/data/a", "/data"]
        content["runs"] = {
            f"{Path.home()}/d.csv": "of /home/ann.b/e.csv, mine",
            "to": "/Users/ann.b",
            "on": "~ann.b/f",
        }
        config.write_text(json.dumps(content))
    (folder / "README.md").write_text(f"Of {Path.home()}/study/posts.jsonl, https://x.org/data/a.\n")
    (folder / "notes.txt").write_text("private")
    write_manifest(inner)
    write_manifest(folder)
    manifest = json.loads((folder / MANIFEST).read_text())
    del manifest["sha256"]["notes.txt"]
    (folder / MANIFEST).write_text(json.dumps(manifest))
    name = push_model(folder, "user/model", public_files(folder))
    files = hub.files("user/model")
    assert name == f"user/model@{hub.repositories['user/model'].branches['main']}"
    assert {"config.json", "part-0/inner/config.json", WEIGHTS, f"part-0/inner/{WEIGHTS}"} <= set(files)
    assert "notes.txt" not in files
    for file in ("config.json", "part-0/inner/config.json"):
        content = json.loads(files[file])
        assert content["data"]["paths"] == ["posts.jsonl", "a.csv", "b.csv"]
        assert content["from"] == ["c.csv", "/", "A: b", "https://x.org/data/a", "data"]
        assert content["runs"] == {"d.csv": "of e.csv, mine", "to": "~", "on": "f"}
    assert files["README.md"].decode().endswith("Of posts.jsonl, https://x.org/data/a.\n")
    np.testing.assert_array_equal(scores(name), scores(folder))


@pytest.mark.parametrize("place", [WEIGHTS, "part-0", "README.md", "config.json"])
def test_a_push_follows_no_links(hub: Hub, folder: Path, tmp_path: Path, place: str) -> None:
    (folder / "README.md").touch()
    (folder / place).rename(tmp_path / "elsewhere")
    (folder / place).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelError, match=": a link; put the file itself into the model folder"):
        public_files(folder)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("README.md", f"With hf_{'a1' * 17}.", "looks like a token"),
        ("metrics.json", '{"api_key": "abc"}', "looks like a token"),
        ("more.json", f'["{Path.home()}/a.csv"]', "a path of this machine"),
        (".more.json", "[]", "a hidden file"),
        ("more.txt", "changed", "was changed in the meantime"),
    ],
)
def test_a_push_refuses(hub: Hub, folder: Path, name: str, text: str, message: str) -> None:
    (folder / name).write_text(text)
    write_manifest(folder)
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["sha256"] |= {name: sha256_of(folder / name)} if "more" in name else {}
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match=message):
        push_model(folder, "user/model", public_files(folder) | ({name: b"x"} if text == "changed" else {}))
    assert not hub.repositories


def test_a_push_into_another_repository_is_refused(hub: Hub, folder: Path) -> None:
    files = public_files(folder)
    hub.repositories["user/other"] = Repository()
    hub.repositories["user/other"].commit("main", {"config.json": b"{}"})
    with pytest.raises(ModelError, match="user/other: has a model of another library; push to a new name"):
        push_model(folder, "user/other", files)
    with pytest.raises(ModelError, match="user/other: exists and is public"):
        push_model(folder, "user/other", files, private=True)
    with pytest.raises(ModelError, match="model: not a name on a hub; give USER/MODEL"):
        push_model(folder, "model", files)
