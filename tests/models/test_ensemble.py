"""Fusion: hand-computed values, invariants, and the parts' own state."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

from linker.common.errors import ConfigError
from linker.data.types import Article, LinkedPosts, Post
from linker.models.ensemble import EnsembleModel, Fusion
from linker.models.model import EncoderModel, Model

ARTICLES = [Article(f"a{i}", "text") for i in range(3)]
POSTS = [Post(f"p{i}", "text") for i in range(8)]


class Fixed(Model):
    def __init__(self, scores: np.ndarray) -> None:
        self.scores = np.asarray(scores, dtype=np.float32)
        self.prepared = 0

    def prepare(self, data: LinkedPosts) -> None:
        self.prepared += 1

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        return self.scores

    def save_state(self, folder: Path) -> None:
        np.save(folder / "scores.npy", self.scores)

    def load_state(self, folder: Path) -> None:
        self.scores = np.load(folder / "scores.npy")


def random_scores(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(3, 8)).astype(np.float32)


def test_zscore_by_hand() -> None:
    part = Fixed(np.array([[1.0, 3.0], [10.0, 10.0]]))
    scores = EnsembleModel([part, Fixed(np.array([[0.0, 1.0], [5.0, 1.0]]))], weights=[1.0, 2.0]).score(
        ARTICLES[:2], POSTS[:2]
    )
    # Two values standardize to -1 and 1; equal ones to 0.
    np.testing.assert_allclose(scores, [[-3.0, 3.0], [2.0, -2.0]], atol=1e-6)


def test_sum_takes_scores_as_they_are() -> None:
    left, right = random_scores(1), random_scores(2)
    model = EnsembleModel([Fixed(left), Fixed(right)], weights=[1.0, 0.5], fusion="sum")
    np.testing.assert_allclose(model.score(ARTICLES, POSTS), left + 0.5 * right, rtol=1e-6)


def test_the_scale_of_a_part_does_not_matter() -> None:
    one, two = random_scores(1), random_scores(2)
    expected = EnsembleModel([Fixed(one), Fixed(two)]).score(ARTICLES, POSTS)
    scaled = EnsembleModel([Fixed(one * 1000 + 50), Fixed(two)]).score(ARTICLES, POSTS)
    np.testing.assert_allclose(scaled, expected, atol=1e-3)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e6])
def test_a_part_that_knows_nothing_changes_no_ranking(constant: float) -> None:
    one = random_scores(1)
    alone = EnsembleModel([Fixed(one)]).score(ARTICLES, POSTS)
    fused = EnsembleModel([Fixed(one), Fixed(np.full((3, 8), constant))]).score(ARTICLES, POSTS)
    np.testing.assert_array_equal(np.argsort(fused, axis=1), np.argsort(alone, axis=1))
    assert np.isfinite(fused).all()


@pytest.mark.parametrize("fusion", ["zscore", "sum"])
def test_no_articles_or_posts(fusion: Fusion) -> None:
    for shape in [(0, 8), (3, 0)]:
        part = Fixed(np.zeros(shape))
        assert (
            EnsembleModel([part], fusion=fusion).score(ARTICLES[: shape[0]], POSTS[: shape[1]]).shape == shape
        )


def test_parts_are_prepared_saved_and_loaded(tmp_path: Path) -> None:
    parts = [Fixed(random_scores(1)), Fixed(random_scores(2))]
    model = EnsembleModel(list(parts))
    model.prepare(LinkedPosts([], []))
    assert [part.prepared for part in parts] == [1, 1]
    model.save_state(tmp_path)
    other = EnsembleModel([Fixed(np.zeros((3, 8))), Fixed(np.zeros((3, 8)))])
    other.load_state(tmp_path)
    np.testing.assert_array_equal(other.score(ARTICLES, POSTS), model.score(ARTICLES, POSTS))


def test_wrong_numbers_of_parts_or_weights_are_refused() -> None:
    with pytest.raises(ConfigError, match="`parts` is empty"):
        EnsembleModel([])
    with pytest.raises(ConfigError, match="3 weights for 1 parts"):
        EnsembleModel([Fixed(random_scores(1))], weights=[1.0, 2.0, 3.0])


GERMAN = Article("de", "Die Lokführer legen von Mittwoch an für drei Tage die Arbeit nieder.")
ENGLISH = Article("en", "The train drivers will stop work for three days from Wednesday.")


@pytest.mark.parametrize("fusion", ["zscore", "sum"])
def test_articles_in_other_languages_have_other_weights(fusion: Fusion) -> None:
    pytest.importorskip("pycld2", reason="has no wheel for this platform")
    parts: list[Model] = [Fixed(random_scores(1)), Fixed(random_scores(2))]
    articles = [ENGLISH, GERMAN, ARTICLES[0]]  # the language of the last is unknown
    plain, other = EnsembleModel(parts, [1, 0.2], fusion), EnsembleModel(parts, [0.3, 1], fusion)
    model = EnsembleModel(parts, [1, 0.2], fusion, languages=["en"], other_weights=[0.3, 1])
    for score in ("score", "score_independently"):
        found = getattr(model, score)(articles, POSTS)
        np.testing.assert_array_equal(found[[0, 2]], getattr(plain, score)(articles, POSTS)[[0, 2]])
        np.testing.assert_array_equal(found[1], getattr(other, score)(articles, POSTS)[1])
    both = EnsembleModel(parts, [1, 0.2], fusion, languages=["en", "de"], other_weights=[0.3, 1])
    np.testing.assert_array_equal(both.score(articles, POSTS), plain.score(articles, POSTS))


def test_a_part_without_weight_for_an_article_is_not_scored() -> None:
    pytest.importorskip("pycld2", reason="has no wheel for this platform")
    parts: list[Model] = [Fixed(random_scores(1)), Fixed(np.full((1, 1), np.nan))]
    model = EnsembleModel(parts, [1, 0], "sum", languages=["en"], other_weights=[0, 1])
    np.testing.assert_array_equal(model.score([ENGLISH], POSTS), parts[0].score([ENGLISH], POSTS))
    assert model.suited_to([GERMAN], Counter()).submodels() == parts[1:]
    assert model.suited_to([ENGLISH, GERMAN], Counter()).submodels() == parts


def test_the_languages_of_the_posts_choose_the_weights() -> None:
    pytest.importorskip("pycld2", reason="has no wheel for this platform")
    parts: list[Model] = [Fixed(random_scores(number)) for number in range(3)]
    model = EnsembleModel(parts, [1, 0, 0], "sum", ["en"], other_weights=[0, 1, 0], cross_weights=[0, 0, 1])
    headline = Article("h", "Tokyo ’20")
    for article, posts, used in [
        (ENGLISH, {"en": 5, "zh": 5}, 0),
        (ENGLISH, {"en": 1, "zh": 5}, 2),
        (ENGLISH, {"fr": 2, "de": 2, "en": 3}, 1),  # most are in no single language
        (headline, {"zh": 9}, 2),
        (GERMAN, {"de": 3, "fr": 3, "en": 4}, 1),
        (GERMAN, {"en": 9, "de": 8}, 2),
    ]:
        assert model.suited_to([article], Counter(posts)).submodels() == [parts[used]]
    assert model.suited_to([], Counter(de=9)).submodels() == [parts[1]]


class Number(EncoderModel):
    """Embeds a post as the number that is its text."""

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray:
        return np.ones((len(articles), 1), dtype=np.float32)

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray:
        return np.array([[float(post.text)] for post in posts], dtype=np.float32)


def test_the_first_posts_are_ranked_again_by_text_unless_dates_are_known() -> None:
    chance, now = np.random.default_rng(0), datetime(2031, 4, 12, tzinfo=timezone.utc)
    similarity, first = chance.uniform(-1, 1, 40).round(3), chance.normal(size=(1, 40)).astype(np.float32)
    first[0, [3, 4]] = np.sort(first[0])[10]  # the 30th, twice
    again = first + 0.5 * np.where(first >= first[0, 3], np.maximum(similarity - 0.2, 0), 0)
    undated, dated = Article("a", "text"), Article("b", "text", published=now)
    posts = [Post(str(i), str(number), created_at=now) for i, number in enumerate(similarity)]
    model = EnsembleModel([Fixed(first), Number()], [1, 0], "sum", rerank_weights=[0, 0.5])
    np.testing.assert_allclose(model.score([undated], posts), again, atol=1e-6)
    found = model.score_independently([undated, dated], posts)
    np.testing.assert_allclose(found, [again[0], first[0]], atol=1e-6)
    without = [Post(post.id, post.text) for post in posts]
    np.testing.assert_allclose(model.score_independently([dated], without), again, atol=1e-6)


def test_wrong_other_weights_are_refused() -> None:
    parts: list[Model] = [Fixed(random_scores(1))]
    with pytest.raises(ConfigError, match="2 other_weights for 1 parts"):
        EnsembleModel(parts, languages=["en"], other_weights=[1, 2])
    with pytest.raises(ConfigError, match="`other_weights` without `languages`"):
        EnsembleModel(parts, other_weights=[1])
    with pytest.raises(ConfigError, match="`cross_weights` without `other_weights`"):
        EnsembleModel(parts, languages=["en"], cross_weights=[1])
    with pytest.raises(ConfigError, match="`rerank_weights` of a part without embeddings"):
        EnsembleModel(parts, rerank_weights=[1])
