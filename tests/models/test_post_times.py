"""The class of elapsed time of each post, found by sorting, is that of its own time."""

from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.data.types import Article
from linker.models.features.post_times import _EDGES, BINS, UNKNOWN, PostTimes

DAY = datetime(2031, 3, 1, tzinfo=timezone.utc)


def article(hours: float | None) -> Article:
    return Article("a", "text", published=None if hours is None else DAY + timedelta(hours=hours))


def agree(values: np.ndarray, hours: float | None) -> None:
    """By definition: the class whose edges, in days after the article's day or half a day before, enclose a time."""
    found = PostTimes(values).bins([article(hours)])[0]
    if hours is None:
        assert (found == UNKNOWN).all()
        return
    start = DAY.timestamp() + 3_600 * (hours if hours % 24 == 0 else hours - 12)
    days = (values - start) / 86_400
    expected = np.clip(np.searchsorted(_EDGES, days, side="right") - 1, 0, BINS - 1)
    assert (found[np.isnan(values)] == UNKNOWN).all()
    near = np.abs(days[:, None] - _EDGES).min(axis=1, initial=np.inf) < 2e-11  # seconds are rounded to 2⁻²²
    some = ~np.isnan(values) & ~near
    np.testing.assert_array_equal(found[some], expected[some])


@given(
    days=st.lists(st.floats(-3000, 3000) | st.just(np.nan), max_size=60),
    hours=st.sampled_from([None, 0, 7.5, 23.99]),
)
def test_any_times(days, hours) -> None:
    agree(DAY.timestamp() + 86_400 * np.array(days, dtype=np.float64), hours)


@pytest.mark.parametrize("hours", [0, 9.25])
def test_times_where_classes_begin(hours) -> None:
    begin = DAY.timestamp() + 3_600 * hours + 86_400 * _EDGES
    around = np.array([0, 1e-7, -1e-7, 1e-6, -1e-6, 1e-3, -1e-3, 0.1, -0.1])
    agree((begin[np.isfinite(begin)] + around[:, None]).ravel(), hours)


@pytest.mark.parametrize("seconds", [0, 1e-3, 0.05, 1, 50_000, 1e9])
def test_posts_close_together_and_far_apart(seconds) -> None:
    values = DAY.timestamp() + seconds * np.random.default_rng(0).random(5_000)
    for hours in (0, -48, 24):
        agree(values, hours)
        agree(np.append(values, [np.nan, DAY.timestamp() + 86_400]), hours)


def test_whether_any_time_is_known() -> None:
    assert not PostTimes(np.zeros(0)).known
    assert not PostTimes(np.array([np.nan, np.nan])).known
    assert PostTimes(np.array([np.nan, 3.0])).known
