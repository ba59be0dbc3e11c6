"""Agreement between annotators, against scikit-learn, the package krippendorff and a table of the literature."""

import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from linker.annotation.session.agreement import Agreement, cohen_kappa, label_table


def krippendorff_alpha(given: list[dict]) -> float:
    return Agreement.of(label_table(given)).alpha


def annotators(seed: int, number: int, posts: int, missing: float) -> list[dict[str, bool]]:
    generator = np.random.default_rng(seed)
    truth = generator.random(posts) < 0.3
    return [
        {
            str(post): bool(truth[post] ^ (generator.random() < 0.2))
            for post in range(posts)
            if generator.random() >= missing
        }
        for _ in range(number)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_kappa_is_that_of_scikit_learn(seed: int) -> None:
    first, second = annotators(seed, 2, 60, missing=0.3)
    both = [post for post in first if post in second]
    expected = cohen_kappa_score([first[post] for post in both], [second[post] for post in both])
    assert cohen_kappa(first, second) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(20))
def test_alpha_is_that_of_the_package_krippendorff(seed: int) -> None:
    krippendorff = pytest.importorskip("krippendorff")
    given = annotators(seed, 4, 40, missing=0.5)
    table = [
        [float(labels[str(post)]) if str(post) in labels else math.nan for post in range(40)]
        for labels in given
    ]
    expected = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
    assert krippendorff_alpha(given) == pytest.approx(expected)


def test_alpha_of_krippendorffs_example_with_several_values() -> None:
    # The same, C: four observers, twelve units, five values, labels missing. Nominal 0.743, interval 0.849.
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
    given = [{str(unit): str(value) for unit, value in enumerate(row) if value} for row in rows]
    assert krippendorff_alpha(given) == pytest.approx(0.743, abs=5e-4)
    scale = Agreement.of(label_table(given, list("12345")), is_scale=True)
    assert scale.alpha == pytest.approx(0.849, abs=5e-4)


def test_where_agreement_is_not_defined() -> None:
    assert math.isnan(cohen_kappa({"a": True}, {"b": True}))
    assert math.isnan(cohen_kappa({"a": True, "b": True}, {"a": True, "b": True}))
    assert math.isnan(krippendorff_alpha([{"a": True}, {"b": False}]))
    assert math.isnan(krippendorff_alpha([]))


def test_full_agreement_and_full_disagreement() -> None:
    one, other = {"a": True, "b": False}, {"a": False, "b": True}
    assert cohen_kappa(one, one) == krippendorff_alpha([one, one]) == 1
    assert cohen_kappa(one, other) == -1


def test_percent_agreement_and_alpha_by_hand() -> None:
    # Three agree on one unit, two of three on the next, two differ on the last; one label alone says nothing.
    table = np.array([[0, 0, 0], [0, 0, 1], [0, 1, -1], [-1, 2, -1]])
    found = Agreement.of(table)
    assert (found.units, found.percent) == (3, pytest.approx((1 + 1 / 3 + 0) / 3))
    assert found.alpha == pytest.approx(1 - 7 * (0 + 2 + 2) / (8**2 - 6**2 - 2**2))
    assert (found.interval, found.why_no_interval) == (None, "fewer than 50 posts have several labels")


@pytest.mark.parametrize(("changed", "why"), [(0, "no two labels"), (2, "fewer than 5"), (10, "")])
def test_the_interval_of_alpha_says_what_it_lacks(changed: int, why: str) -> None:
    relevant = [{str(post): post < changed for post in range(50)} for _ in range(2)]
    relevant[0] |= {"0": changed == 0} if changed else {}
    found = Agreement.of(label_table(relevant))
    assert found.why_no_interval.startswith(why)
    assert (found.interval is None) == bool(why)


def test_the_interval_holds_alpha_in_most_samples_whatever_the_order_of_posts() -> None:
    true = krippendorff_alpha(annotators(999, 3, 20_000, missing=0.3))
    held = []
    for seed in range(100):
        given = annotators(seed, 3, 80, missing=0.3)
        interval = Agreement.of(label_table(given)).interval
        assert interval == Agreement.of(label_table([dict([*one.items()][::-1]) for one in given])).interval
        assert interval is not None
        held.append(interval[0] <= true <= interval[1])
    assert 0.9 <= np.mean(held) <= 1
    narrow = Agreement.of(label_table(annotators(1, 3, 6_000, missing=0.3))).interval
    assert narrow is not None
    assert narrow[1] - narrow[0] < 0.05
