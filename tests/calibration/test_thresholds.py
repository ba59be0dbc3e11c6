"""Thresholds with meaning: against known truth, by simulation and by hand."""

import contextlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.calibration.calibrate import calibrate
from linker.calibration.calibrated_thresholds import CalibratedThresholds
from linker.calibration.calibration import Calibration
from linker.calibration.labeled_thresholds import LabeledThresholds
from linker.calibration.thresholds import Thresholds
from linker.common.errors import DataError, LinkerError
from linker.models.score_scale import ScoreScale


def pile(seed: int, kind: str = "logistic", posts: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Scores, the highest first, and which posts are relevant: about one in ten, the likelier the higher."""
    rng = np.random.default_rng(seed)
    scores = -np.sort(-rng.normal(size=posts)).astype(np.float32)
    chance = {
        "logistic": 1 / (1 + np.exp(4 - 2 * scores)),
        "steps": np.where(scores > 1.5, 0.6, np.where(scores > 0, 0.1, 0.01)),
    }[kind]
    return scores, rng.random(posts) < chance


def chosen(how: str, seed: int, posts: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(1000 + seed)
    if how == "random":
        return rng.choice(posts, count, replace=False)
    if how == "top":
        return np.arange(count)
    return np.concatenate(
        [np.arange(count // 2), rng.choice(np.arange(count // 2, posts), count // 2, replace=False)]
    )


def truth(relevant: np.ndarray, kept: int) -> tuple[float, float]:
    return float(relevant[:kept].mean()), float(relevant[:kept].sum() / relevant.sum())


@pytest.mark.parametrize("kind", ["logistic", "steps"])
@pytest.mark.parametrize("how", ["random", "both"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(kind: str, how: str) -> None:
    held: list[tuple[bool, bool]] = []
    widths: list[float] = []
    for seed in range(30):
        scores, relevant = pile(seed, kind)
        labeled = chosen(how, seed, len(scores), 150)
        drawn = np.arange(150) >= (75 if how == "both" else 0)
        thresholds = LabeledThresholds(scores, labeled, relevant[labeled], random=drawn, before=~drawn)
        for kept in (60, 200, 600):
            one = thresholds.at(float(scores[kept - 1]))
            assert one.kept == kept
            shares = zip((one.precision, one.recall), truth(relevant, kept))
            if one.precision.low is None:  # too few relevant posts in the sample
                assert one.recall.low is None
                continue
            precise, found = ((share.low or 0) <= true <= (share.high or 0) for share, true in shares)
            held.append((precise, found))
            widths.append((one.recall.high or 0) - (one.recall.low or 0))
    assert len(held) > 60
    assert np.mean(held, axis=0) == pytest.approx(1, abs=0.12)  # 95 % and not far below
    assert np.mean(widths) < 0.5


@pytest.mark.parametrize("rare", [True, False])
def test_intervals_that_need_a_label_of_a_rare_kind_hold_where_there_is_one(rare: bool) -> None:
    rng, held = np.random.default_rng(1), list[bool]()
    scores, relevant = np.arange(1000, 0, -1, dtype=np.float32), (np.arange(1000) % 500 == 7) == rare
    while len(held) < 150:
        labeled = rng.choice(1000, 20, replace=False)
        if len(set(relevant[labeled].tolist())) == 2:
            random = np.ones(20, dtype=bool)
            kept = LabeledThresholds(scores, labeled, relevant[labeled], random=random, before=~random).at(
                201
            )
            held.append((kept.precision.low or 0) <= relevant[:800].mean() <= (kept.precision.high or 0))
    assert np.mean(held) >= 0.93


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (0, "not known to be of a random sample: estimates may be biased, and intervals need"),
        (10, "only 10 of them"),
    ],
)
def test_labels_that_were_not_drawn_at_random_give_no_interval(drawn: int, words: str) -> None:
    scores, relevant = pile(3)
    labeled = chosen("top", 3, len(scores), 100)
    thresholds = LabeledThresholds(scores, labeled, relevant[labeled], random=np.arange(100) < drawn)
    assert words in thresholds.basis
    assert "linker annotate" in thresholds.basis
    for one in thresholds.table():
        for share in (one.precision, one.recall):
            assert share.low is None
            assert share.note.startswith("not known: ") or one.kept == len(scores)
        assert "95 % interval not known: " in one.sentence


def test_a_set_with_every_label_is_counted() -> None:
    scores, relevant = pile(1, posts=300)
    thresholds = LabeledThresholds(scores, np.arange(300), relevant)
    for kept in (1, 17, 120, 300):
        one = thresholds.at(float(scores[kept - 1]))
        precision, recall = truth(relevant, kept)
        # Probabilities rise with the score, so single ranks of a stretch count like the stretch.
        for share, true in ((one.precision, precision), (one.recall, recall)):
            if not share.note:
                assert share.low == pytest.approx(min(true, share.value))
                assert share.value == pytest.approx(share.high)
            assert true - 1e-9 <= share.value < true + 0.06 + (kept < 10)
            assert (share.note == "every post is kept") == (kept == 300 and share is one.recall)
    assert thresholds.at(99).kept == 0
    assert thresholds.at(99).recall.high == 0
    assert "keeps no post" in thresholds.at(99).sentence
    wanted = thresholds.for_recall(0.8)
    assert wanted.recall.value >= 0.8
    assert truth(relevant, wanted.kept - 20)[1] < 0.8  # about the highest such threshold
    assert thresholds.table()[-1].kept == 300
    assert [one.kept for one in thresholds.table()] == [10, 20, 50, 100, 200, 300]


def test_wishes_are_met_or_refused_with_the_best_there_is() -> None:
    scores, relevant = pile(2)
    labeled = chosen("random", 2, len(scores), 400)
    thresholds = LabeledThresholds(scores, labeled, relevant[labeled])
    found = thresholds.for_precision(0.5)
    assert found.precision.value >= 0.5
    assert f"about {100 * found.precision.value:.0f} % of them are relevant" in found.sentence
    assert f"keeps {found.kept:,} posts" in found.sentence
    higher = thresholds.for_precision(0.6)
    assert higher.score > found.score
    everything = thresholds.for_recall(1.0)
    assert everything.recall.value == pytest.approx(1)
    with pytest.raises(
        LinkerError, match=r"no threshold is estimated to reach a precision of 100 %; the best is"
    ):
        thresholds.for_precision(1.0)
    with pytest.raises(LinkerError, match="above 0 and up to 1"):
        thresholds.for_recall(1.2)


def test_the_basis_counts_labels_and_the_random_sample() -> None:
    scores, relevant = pile(3)
    labeled = chosen("random", 3, len(scores), 100)
    basis = LabeledThresholds(scores, labeled, relevant[labeled], random=np.ones(100, bool)).basis
    found = relevant[labeled].sum()
    assert basis == f"by 100 labels ({found} relevant), 100 of them ({found} relevant) of a random sample"


def test_the_order_of_posts_and_labels_is_of_no_account() -> None:
    scores, relevant = pile(4, posts=400)
    scores = np.round(scores, 1)  # many share a score
    ids = [f"p{i}" for i in range(400)]
    labels = {ids[i]: bool(relevant[i]) for i in range(0, 400, 5)}
    of_labeled = {post_id: float(score) for post_id, score in zip(ids, scores) if post_id in labels}
    expected = LabeledThresholds.by_scores(scores, of_labeled, labels)
    order = np.random.default_rng(0).permutation(400)
    backwards = dict(reversed(labels.items())) | {"elsewhere": True}
    got = LabeledThresholds.by_scores(scores[order], dict(reversed(of_labeled.items())), backwards)
    assert got.table() == expected.table()
    assert (got.of_raw(scores) == expected.of_raw(scores)).all()
    assert got.basis.endswith("; 1 labels are of other posts")


def test_probabilities_are_those_of_the_truth() -> None:
    scores, relevant = pile(5, posts=20_000)
    labeled = chosen("random", 5, len(scores), 3000)
    got = LabeledThresholds(scores, labeled, relevant[labeled]).of_raw(scores)
    assert (np.diff(got) <= 0).all()
    np.testing.assert_allclose(got, 1 / (1 + np.exp(4 - 2 * scores)), atol=0.06)


def test_labels_without_information_are_refused_or_reported() -> None:
    scores, _ = pile(6, posts=100)
    with pytest.raises(DataError, match="0 of 5 labeled posts are relevant"):
        LabeledThresholds(scores, np.arange(5), np.zeros(5, dtype=bool))
    with pytest.raises(DataError, match="do the ids match"):
        LabeledThresholds.by_scores(scores, {}, {"x": True, "y": False})
    with pytest.raises(LinkerError, match="no posts: thresholds need"):
        CalibratedThresholds(calibrate(*dev_set(1, articles=3)), np.zeros(0))
    upside_down = LabeledThresholds(scores, np.arange(40), np.arange(40) >= 20)
    assert "do not go with relevance" in upside_down.basis
    assert upside_down.of_raw(scores).tolist() == [0.5] * 100


def dev_set(seed: int, articles: int = 40, posts: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Scores and links; relevant posts score higher, by more for some articles than for others."""
    rng = np.random.default_rng(seed)
    relevance = rng.random((articles, posts)) < 0.02
    relevance[:, 0] = True
    lift = rng.normal(2.5, 0.3, (articles, 1))
    return (rng.normal(size=(articles, posts)) + lift * relevance).astype(np.float32), relevance


def test_a_calibration_estimates_recall_and_precision_of_other_articles() -> None:
    held: list[tuple[bool, bool]] = []
    for seed in range(12):
        calibration = calibrate(*dev_set(seed))
        scores, relevance = dev_set(500 + seed)
        thresholds = CalibratedThresholds(calibration, scores.ravel())
        for row in calibration.table()[1:8:3]:
            one, kept = thresholds.at(row.score), scores >= np.float32(row.score)
            precision, recall = relevance[kept].mean(), relevance[kept].sum() / relevance.sum()
            held.append(
                (
                    one.precision.low <= precision <= one.precision.high,
                    one.recall.low <= recall <= one.recall.high,
                )
            )
            assert one.kept == kept.sum()
    assert np.mean(held, axis=0) == pytest.approx(1, abs=0.12)


def test_a_calibrated_probability_does_not_depend_on_other_posts() -> None:
    scores, relevance = dev_set(1)
    calibration = calibrate(scores, relevance)
    some = scores[0, :50]
    alone = CalibratedThresholds(calibration, some)
    among_others = CalibratedThresholds(calibration, np.concatenate([some, scores[1]]))
    assert (alone.of_raw(some) == among_others.of_raw(some)).all()


@cache
def small_calibration(seed: int) -> Calibration:
    return calibrate(*dev_set(seed, articles=6, posts=40))


_SCORES = st.lists(st.floats(-3, 3, width=32).map(lambda score: round(score, 1)), min_size=4, max_size=60)


@settings(max_examples=60, deadline=None)
@given(
    _SCORES, st.randoms(use_true_random=False), st.sampled_from(["labels", "calibration"]), st.floats(0.01, 1)
)
def test_thresholds_are_sums_of_probabilities(
    scores: list[float], random: Random, by: str, target: float
) -> None:
    raw = np.array(scores, dtype=np.float32)
    scale = ScoreScale("logistic", 0.5, 1)
    if by == "labels":
        ranks = random.sample(range(len(raw)), random.randint(2, len(raw)))
        relevant = np.array([random.random() < 0.4 for _ in ranks])
        relevant[:2] = [True, False]
        drawn = np.array([random.random() < 0.7 for _ in ranks])
        thresholds: Thresholds = LabeledThresholds(raw, np.array(ranks), relevant, scale, drawn)
    else:
        thresholds = CalibratedThresholds(small_calibration(len(raw) % 4), raw, scale)
    probabilities = thresholds.of_raw(raw)
    assert (np.diff(probabilities[np.argsort(raw)]) >= -1e-12).all()
    assert (probabilities >= 0).all()
    assert (probabilities <= 1).all()
    shown = scale(raw)
    found = [*thresholds.table(), thresholds.for_recall(target)]
    with contextlib.suppress(LinkerError):
        found.append(thresholds.for_precision(target))
        assert found[-1].precision.value >= target - 1e-6
    assert found[len(thresholds.table())].recall.value >= target - 1e-6
    for one in found:
        kept = shown >= one.score
        assert one.kept == kept.sum() <= len(raw)
        assert one.precision.value == pytest.approx(probabilities[kept].mean())
        assert one.recall.value == pytest.approx(probabilities[kept].sum() / max(probabilities.sum(), 1e-300))
        for share in (one.precision, one.recall):
            if share.low is None or share.high is None:
                assert share.note
            else:
                assert share.low <= share.value <= share.high
            assert share.interval not in ("0 to 100", "100 to 100")


def test_the_table_of_a_dev_set_is_counted() -> None:
    scores, relevance = dev_set(7)
    rows = calibrate(scores, relevance).table()
    assert rows
    for row in rows:
        kept = scores >= np.float32(row.score)
        assert row.kept == kept.sum()
        assert row.recall.value == pytest.approx(relevance[kept].sum() / relevance.sum())
        assert row.precision.value == pytest.approx(relevance[kept].mean())
        assert row.recall.low is not None
        assert row.recall.high is not None
        assert row.recall.low < row.recall.value < row.recall.high


def test_few_articles_have_wide_intervals_or_none() -> None:
    scores, relevance = dev_set(7)
    whole = calibrate(scores, relevance)
    counts = relevance.sum(axis=1)
    assert whole.effective_articles == pytest.approx(counts.sum() ** 2 / (counts**2).sum())
    few = replace(whole, effective_articles=3.0).table()
    for wide, narrow in zip(few, whole.table()):
        assert wide.recall.value == narrow.recall.value
        assert wide.recall.high - wide.recall.low > narrow.recall.high - narrow.recall.low  # type: ignore[operator]
    notes = {row.recall.note for row in calibrate(scores[:9], relevance[:9]).table()}
    assert notes == {"fewer than 10 articles"}


def test_a_calibration_comes_back_from_its_file(tmp_path: Path) -> None:
    scores, relevance = dev_set(3)
    calibration = calibrate(scores, relevance, model="m", fingerprint="f")
    calibration.write(tmp_path / "c.json")
    back = Calibration.read(tmp_path / "c.json")
    assert (back.model, back.articles, back.relevant_pairs) == ("m", 40, relevance.sum())
    assert back.reliability == calibration.reliability
    assert (back.edges.astype(np.float32) == calibration.edges.astype(np.float32)).all()
    for one, other in zip(back.table(), calibration.table()):
        assert (one.score, one.kept) == (other.score, pytest.approx(other.kept, rel=1e-3))
        assert one.recall.value == pytest.approx(other.recall.value, rel=1e-3)
    back.check("f")
    with pytest.raises(DataError, match=r"another model \(m\)"):
        back.check("g")
    calibrate(scores, relevance, model="m", fingerprint="f").write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "c.json").read_bytes()


def test_files_that_are_not_calibrations_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    calibrate(*dev_set(3, articles=5)).write(path)
    good = json.loads(path.read_text())
    for broken, words in (
        ({**good, "format": 3}, "newer format"),
        ({**good, "relevant": good["relevant"][:5]}, "damaged calibration file"),
        ({**good, "edges": [float("nan")] * len(good["edges"])}, "damaged calibration file"),
        ({key: value for key, value in good.items() if key != "pairs"}, "damaged calibration file"),
        ([1, 2], "not a calibration file"),
    ):
        path.write_text(json.dumps(broken))
        with pytest.raises(DataError, match=words):
            Calibration.read(path)
    path.write_text("no json")
    with pytest.raises(DataError, match="not a calibration file"):
        Calibration.read(path)
    with pytest.raises(DataError, match="cannot be read"):
        Calibration.read(tmp_path / "none.json")


def test_too_little_to_calibrate_by_is_reported() -> None:
    scores, relevance = dev_set(3)
    relevance[1:] = False
    with pytest.raises(LinkerError, match="1 article with relevant posts"):
        calibrate(scores, relevance)
    scores[0, 0] = np.nan
    with pytest.raises(LinkerError, match="not finite"):
        calibrate(scores, relevance)
