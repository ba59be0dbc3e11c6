"""Model folders that were damaged or mixed up."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from linker.common.errors import ModelError
from linker.models.files.archive import MANIFEST, load_model, write_manifest
from linker.models.files.resolve import resolve_model
from linker.models.pretrained import BEST, DISTILLED, FOLDERS

WEIGHTS = "part-0/model.safetensors"


@pytest.fixture
def folder(tmp_path):
    """A copy of the bundled model `distilled`."""
    return shutil.copytree(FOLDERS[DISTILLED], tmp_path / "model")


@pytest.mark.parametrize("content", ["{", "[]", "5", "{}", "", "[" * 100_000, '{"format": 1}'])
def test_the_fingerprint_refuses_a_broken_config_by_name(folder, content):
    (folder / "config.json").write_text(content)
    with pytest.raises(ModelError, match=r"config\.json: "):
        _ = resolve_model(folder).fingerprint


def change_weights(folder, value=None):
    weights = load_file(folder / WEIGHTS)
    words = weights["embedder.words.weight"]
    words[5] = words[6] if value is None else value
    save_file(weights, folder / WEIGHTS)


def test_weights_of_another_model_are_refused(folder):
    change_weights(folder)
    with pytest.raises(
        ModelError, match=r"model\.safetensors: does not match its checksum in manifest\.json; copy"
    ):
        load_model(folder)


def test_all_changed_and_missing_files_are_listed(folder):
    change_weights(folder)
    (folder / "part-0/vocabulary.txt").unlink()
    with pytest.raises(ModelError, match=r"model\.safetensors: does not .*vocabulary\.txt: file not found"):
        load_model(folder)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"sha256": 5}'])
def test_a_broken_manifest_is_refused_by_name(folder, content):
    (folder / MANIFEST).write_text(content)
    with pytest.raises(ModelError, match=r"manifest\.json: "):
        load_model(folder)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("for_scoring", [False, True])
def test_weights_that_are_not_finite_are_refused(folder, value, for_scoring):
    change_weights(folder, value)
    write_manifest(folder)
    with pytest.raises(
        ModelError, match=r"model\.safetensors: embedder.words.weight has values that are not"
    ):
        load_model(folder, for_scoring)


@pytest.mark.parametrize("name", [BEST, DISTILLED])
def test_the_manifests_of_the_bundled_models_cover_all_their_files(name):
    folder = FOLDERS[name]
    covered = set()
    for manifest in folder.rglob(MANIFEST):
        inside = manifest.parent.relative_to(folder)
        covered |= {(inside / file).as_posix() for file in json.loads(manifest.read_text())["sha256"]}
    files = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    rest = {file for file in files - covered if file.rpartition("/")[2] not in ("README.md", "metrics.json")}
    assert {file for file in rest if file.rpartition("/")[2] != "config.json"} == {MANIFEST}


def test_a_component_that_is_gone_says_which_linker_had_it(tmp_path):
    shutil.copytree(FOLDERS[DISTILLED], tmp_path / "model")
    config = tmp_path / "model" / "config.json"
    config.write_text(config.read_text().replace('"tfidf"', '"bundled_word_vectors"'))
    with pytest.raises(
        ModelError, match=r"not a registered Model.*install linker .*, or train the model again"
    ):
        load_model(tmp_path / "model")
