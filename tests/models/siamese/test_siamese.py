"""A text's vector, its model folder, and what happens when the folder is damaged."""

import json
import random
import shutil

import numpy as np
import pytest
import torch

from linker.common.errors import ModelError
from linker.config import build
from linker.data.token_axis import length_buckets
from linker.data.types import Article, Post
from linker.models.files.archive import load_model, save_model, write_manifest
from linker.models.model import Model
from linker.models.siamese.word_siamese import WordSiamese
from linker.training.rng_state import seed_everything
from tests.conftest import toy_posts
from tests.helpers.encoders import ENCODERS as SMALL

ENCODERS = SMALL | {"star_transformer": {**SMALL["star_transformer"], "cycles": 2}}
EMBEDDER = {"type": "word_vectors", "dim": 16, "trainable": True, "buckets": 200}


def config_of(encoder):
    return {"type": "siamese", "encoder": ENCODERS[encoder], "embedder": EMBEDDER, "min_count": 1}


def prepared(encoder) -> WordSiamese:
    seed_everything(1)
    model = build(Model, config_of(encoder))
    model.prepare(toy_posts())
    assert isinstance(model, WordSiamese)
    return model.eval()


def random_texts(count, seed=0):
    """Texts of 0 to 300 tokens, known, unknown, emojis and other scripts among them."""
    rng = random.Random(seed)
    words = [
        "harbour1", "orchard2", "w3", "unheardof", "Zürich", "🔥", "東京", "#NoIdea", "@you", "https://t.co/x",
        "42",
    ]  # fmt: skip
    return [" ".join(rng.choices(words, k=rng.choice([0, 1, 2, 5, 20, 300]))) for _ in range(count)]


@pytest.mark.parametrize("encoder", ENCODERS)
def test_any_text_gives_the_same_vector_alone_and_in_any_batch(encoder):
    model, texts = prepared(encoder), random_texts(80)
    posts = [model.post_tokens(Post(str(i), text)) for i, text in enumerate(texts)]
    with torch.no_grad():
        alone = torch.cat([model([post]) for post in posts])
        for seed, size in ((1, 3), (2, 25), (3, 80)):
            order = random.Random(seed).sample(range(80), 80)
            parts = [model([posts[i] for i in order[k : k + size]]) for k in range(0, 80, size)]
            assert (torch.cat(parts) - alone[order]).abs().max() <= 1e-5
    assert np.abs(model.encode(posts) - alone.numpy()).max() <= 1e-5
    torch.testing.assert_close(alone.norm(dim=1), torch.ones(80))


def test_scores_are_cosines_whatever_the_order_of_the_posts():
    model, data = prepared("star_transformer"), toy_posts()
    scores = model.score(data.articles, data.posts)
    assert scores.dtype == np.float32
    assert scores.shape == (len(data.articles), len(data.posts))
    assert np.abs(scores).max() <= 1 + 1e-5
    order = np.random.default_rng(0).permutation(len(data.posts))
    np.testing.assert_allclose(
        model.score(data.articles, [data.posts[j] for j in order]), scores[:, order], atol=1e-5
    )


def test_texts_are_cut_at_their_limits():
    model = prepared("mean")
    long = " ".join(["harbour1"] * 1000 + ["orchard2"] * 500)
    assert len(model.article_tokens(Article("a", long)).ids) == 1000
    assert len(model.post_tokens(Post("p", long)).ids) == 200


def test_words_are_distinguished_also_when_unknown():
    model = prepared("mean")
    vectors = model.encode(
        [model.post_tokens(Post("p", text)) for text in ("qwertyuiop", "zxcvbnm", "qwertyuiop")]
    )
    assert vectors[0] @ vectors[1] < 0.9
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-6)


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_an_article_may_lie_between_its_title_and_its_whole(share):
    model = prepared("cnn")
    articles = [
        Article("both", "w1 w2 w3 fire0 fire1", title="fire2 w4"),
        Article("title", "", title="fire2 w4"),
        Article("text", "w5 w6"),
    ]
    wholes = model.article_vectors(articles)
    model.title_weight = share
    seen = model.article_vectors(articles)
    middle = (1 - share) * wholes[0] + share * wholes[1]
    np.testing.assert_allclose(seen[0], middle / np.linalg.norm(middle), atol=1e-6)
    np.testing.assert_allclose(seen[1:], wholes[1:], atol=1e-6)


def test_buckets_keep_posts_from_paying_for_articles():
    lengths = [random.Random(i).choice([3, 12, 25, 60, 900, 1000]) for i in range(500)]
    buckets = list(length_buckets(lengths, 8_192))
    assert sorted(i for bucket in buckets for i in bucket) == list(range(500))
    for bucket in buckets:
        own = [lengths[i] for i in bucket]
        assert max(own) <= 2 * min(own) + 8
        assert max(own) * len(own) <= 16_384
    for bucket in length_buckets(lengths, 8_192, equal=True):
        assert len({lengths[i] for i in bucket}) == 1
        assert lengths[bucket[0]] * len(bucket) <= 8_192


def save(model, folder, encoder="star_transformer"):
    save_model(model, folder, {"model": config_of(encoder)}, {"dev": {}}, "# card\n")


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_model_folder_gives_back_the_same_vectors(encoder, tmp_path):
    model, data = prepared(encoder), toy_posts()
    save(model, tmp_path / "model", encoder)
    moved = tmp_path / "elsewhere"
    shutil.move(tmp_path / "model", moved)
    again = load_model(moved)
    np.testing.assert_array_equal(
        again.score(data.articles, data.posts), model.score(data.articles, data.posts)
    )
    assert {p.name for p in moved.iterdir()} >= {
        "config.json",
        "model.safetensors",
        "vocabulary.txt",
        "README.md",
    }


def test_a_folder_made_with_vectors_loads_without_the_vector_file(tmp_path):
    file = tmp_path / "vectors.txt"
    rng = np.random.default_rng(0)
    file.write_text(
        "".join(f"harbour{i} " + " ".join(map(str, rng.normal(size=16).round(3))) + "\n" for i in range(8))
    )
    config = {"type": "siamese", "encoder": "mean", "embedder": {"dim": 16}, "vectors": {"source": str(file)}}
    model, data = build(Model, config), toy_posts()
    model.prepare(data)
    assert "harbour1" in model.vocabulary
    save_model(model, tmp_path / "model", {"model": config}, {}, "")
    file.unlink()
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(
        again.score(data.articles, data.posts), model.score(data.articles, data.posts)
    )


def damage_config(**change):
    """Write other values into a part of the config, or at its top."""

    def damage(folder):
        config = json.loads((folder / "config.json").read_text())
        for name, values in change.items():
            config["model"].get(name, config).update(values)
        (folder / "config.json").write_text(json.dumps(config))

    return damage


def damage_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def damage_vocabulary(folder):
    path = folder / "vocabulary.txt"
    path.write_text("\n".join(path.read_text().splitlines()[:-5]) + "\n")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shutil.rmtree, "model folder not found"),
        (lambda folder: (folder / "config.json").unlink(), "config.json is missing"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot be read as JSON"),
        (damage_config(encoder={"type": "star_transfomer"}), "star_transformer"),
        (damage_config(top={"format": 99}), "newer format"),
        (damage_config(embedder={"dim": 17}), r"weights do not match the config: .*`dim`"),
        (damage_weights, "model.safetensors: model weights cannot be read"),
        (
            lambda folder: (folder / "model.safetensors").unlink(),
            "model.safetensors: model weights cannot be read",
        ),
        (damage_vocabulary, "weights do not match"),
    ],
)
def test_a_damaged_folder_is_named_with_what_is_wrong(damage, message, tmp_path):
    folder = tmp_path / "model"
    save(prepared("star_transformer"), folder)
    damage(folder)
    if folder.is_dir():
        write_manifest(folder)  # what loading itself notices
    with pytest.raises(ModelError, match=message) as caught:
        load_model(folder)
    assert str(folder) in str(caught.value)
