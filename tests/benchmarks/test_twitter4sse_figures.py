"""Figures of Twitter4SSE: means, Pearson's r and their differences against numpy and scipy."""

import numpy as np
import pytest
from scipy.stats import pearsonr

from benchmarks.papers.twitter4sse_figures import Gain, GradedPairs, TestSets, Values, gains, verdict

RNG = np.random.default_rng(0)
GRADES = RNG.normal(size=300)
GRADES[7] = np.nan
SETS = TestSets({"DR": []}, {"STSb": GradedPairs([("a", "b")] * 300, GRADES)})


def measured(noise, shift=0.0):
    return {"DR": np.linspace(0.2, 0.6, 200) + shift, "STSb": np.nan_to_num(GRADES) + noise}


def test_values_are_means_and_correlations():
    noise = RNG.normal(size=300)
    values = Values(SETS, [measured(noise), measured(2 * noise)])
    known = ~np.isnan(GRADES)
    expected = [pearsonr(GRADES[known], (GRADES + k * noise)[known]).statistic for k in (1, 2)]
    assert values.values["STSb"] == pytest.approx(expected)
    assert values.mean("DR") == pytest.approx(0.4)
    assert values.cell("DR") == "40.0 ± 0.0"
    # The samples scatter around the value as scipy's interval of a correlation says.
    low, high = pearsonr(GRADES[known], (GRADES + noise)[known]).confidence_interval()
    one = Values(SETS, [measured(noise)])
    assert np.quantile(one.samples["STSb"], (0.025, 0.975)) == pytest.approx([low, high], abs=0.03)


def test_a_gain_is_significant_if_its_interval_excludes_zero():
    noise = RNG.normal(size=300)
    old, new = Values(SETS, [measured(2 * noise)]), Values(SETS, [measured(noise / 2)])
    found = gains(new, old)
    assert found["STSb"].significant
    assert found["STSb"].low > 0
    assert not found["DR"].significant
    assert (found["DR"].points, found["DR"].low, found["DR"].high) == (0, 0, 0)
    assert str(Gain(1.25, -0.01, 2.5, False)) == "+1.2 [+0.0, +2.5]"
    assert verdict("it", found).startswith("- it: significantly better on 1 of 2 sets (STSb); undecided on 1")
    assert "significantly worse on STSb" in verdict("it", gains(old, new))
