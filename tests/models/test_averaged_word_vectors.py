"""A siamese of word vectors read without torch: the same numbers, the same folder, the same refusals."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linker.common.errors import ModelError
from linker.config import build, resolve
from linker.data.types import Article, LinkedPosts, Post
from linker.models.averaged_word_vectors import AveragedWordVectorsModel
from linker.models.files.archive import load_model, save_model, write_manifest
from linker.models.model import Model, embedding_submodel
from linker.models.pretrained import FOLDERS
from linker.models.siamese.siamese import SiameseModel
from tests.helpers.encoders import encoder

ARTICLES = [
    Article("a", "Doctors strike over pay. " * 30, "Strike at the hospital"),
    Article("b", "A late goal wins the cup"),
    Article("c", "", "Floods in the valley"),
]
POSTS = [
    Post("p", "physicians want better wages, doctors say #DoctorsStrike"),
    Post("q", "the striker scored a goooal"),
    Post("r", ""),
    Post("s", "goal goal goal"),
    Post("t", "ünbekannte wörter 你好 🎉"),
]
# As near as float32 gets when sums are added up in another order.
NEAR: dict[str, Any] = {"rtol": 2e-5, "atol": 2e-6}


def saved(folder: Path, embedder: dict[str, Any] | None = None, **settings: Any) -> Path:
    """A folder of an untrained siamese of means, with what is random different from one to the next."""
    config = {
        "type": "siamese",
        "encoder": "mean",
        "embedder": {"type": "word_vectors", "dim": 12, "buckets": 50, "trainable": True, **(embedder or {})},
        "tokenizer": "social",
        "min_count": 1,
        **settings,
    }
    model = build(Model, config)
    model.prepare(LinkedPosts(ARTICLES[:2], POSTS[:2]))
    save_model(model, folder, {"model": resolve(Model, config)}, {}, "")
    return folder


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_article_tokens": 7, "max_post_tokens": 2, "title_weight": 0.25},
        {"similarity": "euclidean", "title_weight": 0.25, "tokenizer": "whitespace"},
    ],
    ids=str,
)
def test_it_gives_the_numbers_of_the_model_that_was_trained(settings: dict[str, Any], tmp_path: Path) -> None:
    folder = saved(tmp_path / "model", **settings)
    trained, light = load_model(folder), load_model(folder, for_scoring=True)
    assert isinstance(trained, SiameseModel)
    assert isinstance(light, AveragedWordVectorsModel)
    np.testing.assert_allclose(light.article_vectors(ARTICLES), trained.article_vectors(ARTICLES), **NEAR)
    np.testing.assert_allclose(light.post_vectors(POSTS), trained.post_vectors(POSTS), **NEAR)
    # The distance of near vectors loses digits in float32, which the trained model computes with.
    np.testing.assert_allclose(
        light.score(ARTICLES, POSTS), trained.score(ARTICLES, POSTS), rtol=1e-4, atol=1e-5
    )
    assert light.score(ARTICLES, POSTS).dtype == np.float32
    assert light.post_vectors([]).shape == (0, 12)


def test_the_mean_is_the_mean(tmp_path: Path) -> None:
    light = load_model(saved(tmp_path / "model", similarity="euclidean"), for_scoring=True)
    assert isinstance(light, AveragedWordVectorsModel)
    one, other, both = light.post_vectors(
        [Post("1", "doctors"), Post("2", "goal"), Post("3", "doctors goal goal")]
    )
    np.testing.assert_allclose(both, (one + 2 * other) / 3, rtol=1e-5, atol=1e-6)


def test_many_texts_are_encoded_like_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    light = load_model(saved(tmp_path / "model"), for_scoring=True)
    together = encoder(light).post_vectors(POSTS)
    monkeypatch.setattr(AveragedWordVectorsModel, "tokens_per_chunk", 3)
    np.testing.assert_array_equal(encoder(light).post_vectors(POSTS), together)


def test_as_a_part_of_distilled_it_gives_the_scores_of_torch() -> None:
    folder = FOLDERS["distilled"]
    trained, light = load_model(folder), load_model(folder, for_scoring=True)
    assert isinstance(embedding_submodel(light), AveragedWordVectorsModel)
    assert isinstance(embedding_submodel(trained), SiameseModel)
    # Scores are cosines over a temperature of 0.05.
    np.testing.assert_allclose(light.score(ARTICLES, POSTS), trained.score(ARTICLES, POSTS), atol=2e-5)
    np.testing.assert_allclose(
        light.score_independently(ARTICLES, POSTS), trained.score_independently(ARTICLES, POSTS), atol=2e-5
    )


def test_other_models_stay_what_they_are(tmp_path: Path) -> None:
    folder = saved(tmp_path / "gru", encoder={"type": "gru", "hidden_dim": 4})
    assert isinstance(load_model(folder, for_scoring=True), SiameseModel)
    folder = saved(tmp_path / "zero", {"unknown": "zero"})
    assert isinstance(load_model(folder, for_scoring=True), SiameseModel)


def test_damaged_folders_are_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "model")
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    write_manifest(folder)  # what loading itself notices
    with pytest.raises(ModelError, match="model weights cannot be read"):
        load_model(folder, for_scoring=True)
    weights.unlink()
    write_manifest(folder)
    with pytest.raises(ModelError, match="model weights cannot be read"):
        load_model(folder, for_scoring=True)
    shutil.copy(saved(tmp_path / "other", {"dim": 5}) / "model.safetensors", weights)
    write_manifest(folder)
    with pytest.raises(ModelError, match="weights do not match the config"):
        load_model(folder, for_scoring=True)


def test_wrong_configs_are_reported_as_ever(tmp_path: Path) -> None:
    folder = saved(tmp_path / "model")
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"title_weight": 0.0', '"title_weight": "some"'))
    messages = []
    for for_scoring in (False, True):
        with pytest.raises(ModelError, match="title_weight") as refused:
            load_model(folder, for_scoring=for_scoring)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]
