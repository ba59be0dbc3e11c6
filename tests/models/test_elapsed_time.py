import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.common.errors import ConfigError, ModelError
from linker.config import build
from linker.data.types import Article, LinkedPosts, Post
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.elapsed_time import DEFAULT_PROFILE, ElapsedTimeModel, user_scale, without_dates
from linker.models.features.memory_table import MemoryTable
from linker.models.model import Model
from linker.models.tfidf import TfidfModel

DAY = datetime(2024, 5, 10, tzinfo=timezone.utc)


def article(published: datetime | None = DAY, name: str = "a") -> Article:
    return Article(name, "text", published=published)


def post(days: float | None, name: str = "p") -> Post:
    return Post(name, "text", created_at=None if days is None else DAY + timedelta(days=days))


class Fixed(Model):
    def __init__(self, scores: np.ndarray) -> None:
        self.scores = scores

    def score(self, articles, posts):
        return self.scores.astype(np.float32)


def test_scores_are_the_profile_times_the_weight_at_its_knots() -> None:
    days = [day for day, _ in DEFAULT_PROFILE if -30 <= day <= 120]
    expected = [ratio for day, ratio in DEFAULT_PROFILE if -30 <= day <= 120]
    scores = ElapsedTimeModel(weight=0.5).score([article()], [post(day) for day in days])[0]
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, 0.5 * np.array(expected), atol=0.1)


def test_a_missing_time_counts_as_nothing() -> None:
    model = ElapsedTimeModel()
    assert model.score([article()], [post(None), post(1)])[0, 0] == 0
    assert not model.score([article(None)], [post(None), post(1)]).any()
    text = Fixed(np.random.default_rng(1).normal(size=(3, 5)))
    undated = [article(None, name) for name in "abc"]
    timed, plain = ArticleSoftmaxModel(text, 0.1, 0.3, time=model), ArticleSoftmaxModel(text, 0.1, 0.3)
    posts = [post(day, str(day)) for day in range(5)]
    np.testing.assert_allclose(timed.score(undated, posts), plain.score(undated, posts), rtol=1e-5)


def test_a_time_of_day_moves_the_profile_by_half_a_day_on_average() -> None:
    noon = article(DAY + timedelta(hours=12))
    model = ElapsedTimeModel()
    assert model.score([noon], [post(1.25)]) == model.score([article()], [post(1.25)])
    just_before, long_before = model.score([noon], [post(0.45), post(-1)])[0]
    assert just_before > long_before


def test_wrong_clocks_cost_no_more_than_the_end_of_the_profile() -> None:
    scores = ElapsedTimeModel().score([article()], [post(-20_000), post(-365), post(20_000), post(1000)])[0]
    assert scores[0] == pytest.approx(scores[1], abs=0.1)
    assert scores[2] == pytest.approx(scores[3], abs=0.1)
    assert np.isfinite(scores).all()


def test_text_counts_half_above_six_so_that_the_date_can_outweigh_it() -> None:
    log_odds = np.array([[-3.0, 0.0, 5.0, 10.0, 20.0]])
    model = ArticleSoftmaxModel(Fixed(log_odds * 0.1 + 0.3), 0.1, 0.3, time=ElapsedTimeModel())
    undated = model.score([article()], [post(None, str(n)) for n in range(5)])[0]
    by_hand = log_odds[0] - 0.5 * np.log1p(np.exp(log_odds[0] - 6))
    np.testing.assert_allclose(undated, by_hand, atol=1e-4)
    assert undated[4] == pytest.approx(13, abs=1e-3)
    # A post of the next day (log-odds 10) is ahead of one with better text (20) of another season.
    fair, good = model.score([article()], [post(None), post(None), post(None), post(1), post(300)])[0][3:]
    assert fair > good


def world(
    rng: np.random.Generator, lag: float, spread: float
) -> tuple[list[Article], list[Post], np.ndarray]:
    """60 articles over 300 days with two posts each, `lag` days later; the texts tell them apart poorly."""
    articles = [article(DAY + timedelta(days=5 * n), str(n)) for n in range(60)]
    posts = [
        Post(f"{n}-{i}", "", created_at=DAY + timedelta(days=5 * n + lag + float(rng.uniform(0, spread))))
        for n in range(60)
        for i in range(2)
    ]
    relevant = np.repeat(np.eye(60), 2, axis=1)
    return articles, posts, rng.normal(size=relevant.shape) * 0.12 + 0.32 * relevant


@pytest.mark.parametrize("lag", [0.5, 40.0])
def test_the_profile_is_estimated_from_several_articles_without_labels(lag: float) -> None:
    articles, posts, text = world(np.random.default_rng(3), lag, 2.0)
    right = np.repeat(np.arange(60), 2)
    plain = ArticleSoftmaxModel(Fixed(text), 0.06, 0.3).score(articles, posts)
    timed = ArticleSoftmaxModel(Fixed(text), 0.06, 0.3, time=ElapsedTimeModel()).score(articles, posts)
    # Also with a lag of forty days, which the default profile does not expect.
    assert (timed.argmax(axis=0) == right).mean() > (plain.argmax(axis=0) == right).mean() + 0.1


def test_random_times_do_not_harm_several_articles() -> None:
    rng = np.random.default_rng(4)
    articles, posts, text = world(rng, 1.0, 2.0)
    shuffled = [
        Post(p.id, "", created_at=posts[i].created_at) for p, i in zip(posts, rng.permutation(len(posts)))
    ]
    right = np.repeat(np.arange(60), 2)
    model = ArticleSoftmaxModel(Fixed(text), 0.06, 0.3, time=ElapsedTimeModel())
    plain = ArticleSoftmaxModel(Fixed(text), 0.06, 0.3).score(articles, posts)
    found = (model.score(articles, shuffled).argmax(axis=0) == right).mean()
    assert found >= (plain.argmax(axis=0) == right).mean() - 0.06


def linked(lag: float, count: int) -> LinkedPosts:
    articles = [article(DAY + timedelta(days=7 * n), str(n)) for n in range(count)]
    posts = [
        Post(f"p{n}", "x", (str(n),), created_at=DAY + timedelta(days=7 * n + lag)) for n in range(count)
    ]
    return LinkedPosts(articles, posts)


def test_training_learns_the_profile_from_links() -> None:
    model = ElapsedTimeModel()
    before = model.score([article()], [post(1), post(50)])[0]
    model.prepare(linked(50, 400))
    after = model.score([article()], [post(1), post(50)])[0]
    assert before[0] > before[1]
    assert (after[1] - after[0]) - (before[1] - before[0]) > 3


def test_few_links_hardly_change_the_profile() -> None:
    model = ElapsedTimeModel()
    before = model.score([article()], [post(1), post(50)])[0]
    model.prepare(linked(50, 3))
    assert np.abs(model.score([article()], [post(1), post(50)])[0] - before).max() < 1.5


def test_links_without_times_leave_the_profile_as_it_is() -> None:
    model = ElapsedTimeModel()
    model.prepare(LinkedPosts([article(None)], [Post("p", "x", ("a",))]))
    assert model.score([article()], [post(2)]) == ElapsedTimeModel().score([article()], [post(2)])


def test_a_model_folder_keeps_what_was_learned(tmp_path: Path) -> None:
    model = ArticleSoftmaxModel(TfidfModel(), 0.1, 0.3, time=ElapsedTimeModel())
    model.prepare(linked(30, 200))
    model.save_state(tmp_path)
    loaded = ArticleSoftmaxModel(TfidfModel(), 0.1, 0.3, time=ElapsedTimeModel())
    loaded.load_state(tmp_path)
    pair = [article()], [post(day, str(day)) for day in range(60)]
    np.testing.assert_allclose(loaded.score(*pair), model.score(*pair), atol=1e-5)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"profile": [[0, 1]]}', '{"profile": "x"}'])
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "elapsed_time.json").write_text(content)
    with pytest.raises(ModelError, match=r"elapsed_time\.json: damaged"):
        ElapsedTimeModel().load_state(tmp_path)


@pytest.mark.parametrize("profile", [[], [[1, 2], [0, 1]], [[1, 2, 3]], [1, 2]], ids=json.dumps)
def test_profiles_out_of_order_are_refused(profile: list) -> None:
    with pytest.raises((ConfigError, ValueError)):
        build(Model, {"type": "elapsed_time", "profile": profile})


def test_only_elapsed_time_is_taken_as_time() -> None:
    config = {"type": "article_softmax", "model": "tfidf", "temperature": 1, "null_score": 0, "time": "bm25"}
    with pytest.raises(ConfigError, match="not an `elapsed_time` model"):
        build(Model, config)


def test_whether_dates_count_depends_on_model_articles_and_posts() -> None:
    timed = ArticleSoftmaxModel(TfidfModel(), 0.1, 0.3, time=ElapsedTimeModel())
    with_times, without_times = MemoryTable([post(1)]), MemoryTable([post(None)])
    assert user_scale(timed, with_times, [article(None), article()]).dates
    assert not user_scale(timed, without_times, [article()]).dates
    assert not user_scale(timed, with_times, without_dates([article()])).dates
    assert not user_scale(ArticleSoftmaxModel(TfidfModel(), 0.1, 0.3), with_times, [article()]).dates


@given(st.lists(st.one_of(st.none(), st.datetimes(timezones=st.just(timezone.utc))), min_size=1, max_size=8))
def test_any_dates_give_finite_scores(times: list[datetime | None]) -> None:
    posts = [Post(str(n), "", created_at=time) for n, time in enumerate(times)]
    articles = [article(time, str(n)) for n, time in enumerate(times)]
    text = Fixed(np.zeros((len(times), len(times))))
    assert np.isfinite(
        ArticleSoftmaxModel(text, 0.1, 0.3, time=ElapsedTimeModel()).score(articles, posts)
    ).all()
