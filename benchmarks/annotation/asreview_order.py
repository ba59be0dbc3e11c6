"""Write the order in which ASReview's default model labels posts.

    PYTHON benchmarks/annotation/asreview_order.py INPUT.csv OUTPUT.csv GROWTH

`benchmarks.annotation` runs this script in an environment with asreview. INPUT has the columns task, place, text,
relevant; rows with place −1 are the seed articles, which the model knows to be relevant from the start. OUTPUT has task
and place, in the order of labeling. The model is retrained whenever the number of labels has grown by the factor
1 + GROWTH, as in linker's simulation (ASReview itself retrains after each label).
"""

from __future__ import annotations

import csv
import os
import sys
from itertools import groupby
from typing import Any

import pandas as pd
from asreview.learner import ActiveLearningCycle
from asreview.models.models import get_ai_config
from asreview.models.queriers import TopDown
from asreview.models.stoppers import IsFittable, LastRelevant
from asreview.simulation.simulate import Simulate


def label_all(rows: list[dict[str, str]], growth: float) -> list[int]:
    """Return the indices in the order in which ASReview labels them, until all relevant posts are found."""
    rows = sorted(rows, key=lambda row: row["place"] != "-1")
    seeds = sum(row["place"] == "-1" for row in rows)
    table = pd.DataFrame({"title": [row["text"] for row in rows], "abstract": ""})
    labels = pd.Series([int(row["relevant"]) for row in rows])
    renewed = 0

    def how_many(results: Any) -> int:
        nonlocal renewed
        renewed = len(results) - seeds
        return max(1, int(growth * renewed))

    learning = ActiveLearningCycle.from_meta(get_ai_config("elas_u4")["value"])
    learning.n_query = how_many
    cycles = [ActiveLearningCycle(querier=TopDown(), stopper=IsFittable()), learning]
    simulation = Simulate(table, labels, cycles, stopper=LastRelevant(), print_progress=False)
    simulation.label(list(range(seeds)))
    simulation.review()
    return [int(rows[i]["place"]) for i in simulation._results["record_id"][seeds:]]


def main() -> None:
    """Read, simulate task by task, write."""
    source, target, growth = sys.argv[1], sys.argv[2], float(sys.argv[3])
    csv.field_size_limit(1 << 30)
    with open(source, encoding="utf-8", newline="") as file:
        tasks = [(name, list(rows)) for name, rows in groupby(csv.DictReader(file), lambda row: row["task"])]
    with open(target + ".part", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "place"])
        for number, (name, rows) in enumerate(tasks, 1):
            writer.writerows([name, place] for place in label_all(rows, growth))
            print(f"{name}: {number} of {len(tasks)}", file=sys.stderr, flush=True)
    os.replace(target + ".part", target)


if __name__ == "__main__":
    main()
