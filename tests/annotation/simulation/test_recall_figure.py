"""The recall curves of simulations."""

import pytest

from linker.annotation.simulation.outcomes import Outcome
from linker.annotation.simulation.recall_figure import mean_curves, recall_figure
from linker.common.figures import label


def curve(task: str, strategy: str, *values: float) -> Outcome:
    return Outcome(task, strategy, 0, 100, {}, None, values)


def test_recall_is_a_mean_over_runs_then_over_tasks() -> None:
    few = [
        curve("a", "x", 0, 0.5, 1),
        curve("a", "x", 0, 0.7, 1),
        curve("b", "x", 0, 1, 1),
        curve("a", "y", 0, 0.1, 0.9),
    ]
    means = mean_curves(few)
    assert list(means) == [("a", "x"), ("a", "y"), ("b", "x")]
    assert means["a", "x"] == pytest.approx([0, 0.6, 1])
    many = few[:2] + [curve(f"t{i}", "x", 0, 1, 1) for i in range(9)]
    assert mean_curves(many)["mean of 10 tasks", "x"] == pytest.approx([0, 0.96, 1])


def test_a_single_task_says_when_95_percent_are_found() -> None:
    pytest.importorskip("matplotlib")
    drawn = recall_figure([curve("a", "x", 0, 0.96, 1), curve("a", "y", 0, 0.1, 0.9)])
    texts = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert texts == ["x\n95 % after 50 % of the labels", "y\nnever 95 %"]


def test_a_strategy_keeps_its_colour_in_every_panel() -> None:
    pytest.importorskip("matplotlib")
    some = [curve("a", "y", 0, 0.2, 1), curve("b", "x", 0, 0.5, 1), curve("b", "y", 0, 0.1, 0.9)]
    drawn = recall_figure(some)
    of_name = dict(zip("yx", (line.get_color() for line in drawn.legends[0].get_lines())))
    colors = [[line.get_color() for line in axis.get_lines()[:-1]] for axis in drawn.axes]
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["y", "x"]
    assert [set(one) for one in colors] == [{of_name["y"]}, {of_name["x"], of_name["y"]}]


def test_labels_are_one_line_of_what_can_be_shown() -> None:
    assert label("a\nb\t\x00c \ud800 \u202ed ") == "a b c d"
    assert label("x" * 61) == "x" * 59 + "…"
    assert label("x" * 60) == "x" * 60
