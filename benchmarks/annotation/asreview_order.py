"""Write the order in which a model of ASReview labels posts.

    PYTHON benchmarks/annotation/asreview_order.py INPUT.csv OUTPUT.csv GROWTH PRESET [VECTORS.npy]

`benchmarks.annotation` runs this script in an environment with asreview. INPUT has the columns task, place, text,
relevant; rows with place −1 are the seed articles, which the model knows to be relevant from the start. OUTPUT has task
and place, in the order of labeling. PRESET is a name like elas_u4. VECTORS, one row per row of INPUT, take the place of
the preset's own encoder. The model is retrained whenever the number of labels has grown by the factor 1 + GROWTH, as in
linker's simulation (ASReview itself retrains after each label).
"""

from __future__ import annotations

import csv
import os
import sys
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from asreview.learner import ActiveLearningCycle
from asreview.models.models import get_ai_config
from asreview.models.queriers import TopDown
from asreview.models.stoppers import IsFittable, LastRelevant
from asreview.simulation.simulate import Simulate


def label_all(
    rows: list[dict[str, str]], growth: float, preset: str, vectors: np.ndarray | None = None
) -> list[int]:
    """Return the indices in the order in which ASReview labels them, until all relevant posts are found.

    Args:
        rows: the rows of INPUT of a task, seed articles first.
        growth: see above.
        preset: see above.
        vectors: rows × dim, instead of the preset's encoder.
    """
    seeds = sum(row["place"] == "-1" for row in rows)
    texts = pd.DataFrame({"title": [row["text"] for row in rows], "abstract": ""})
    labels = pd.Series([int(row["relevant"]) for row in rows])
    renewed = 0

    def how_many(results: Any) -> int:
        nonlocal renewed
        renewed = len(results) - seeds
        return max(1, int(growth * renewed))

    if vectors is not None:  # the presets with an encoder normalize its vectors
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    given = vectors is not None
    learning = ActiveLearningCycle.from_meta(get_ai_config(preset)["value"], skip_feature_extraction=given)
    learning.n_query = how_many
    cycles = [ActiveLearningCycle(querier=TopDown(), stopper=IsFittable()), learning]
    simulation = Simulate(
        vectors if given else texts,
        labels,
        cycles,
        stopper=LastRelevant(),
        skip_transform=given,
        print_progress=False,
    )
    simulation.label(list(range(seeds)))
    simulation.review()
    return [int(rows[i]["place"]) for i in simulation._results["record_id"][seeds:]]


def main() -> None:
    """Read, simulate task by task, write."""
    source, target, growth, preset = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    vectors = np.load(sys.argv[5], allow_pickle=False) if len(sys.argv) > 5 else None
    csv.field_size_limit(1 << 30)
    with open(source, encoding="utf-8", newline="") as file:
        tasks = [(name, list(rows)) for name, rows in groupby(csv.DictReader(file), lambda row: row["task"])]
    begin = 0
    with open(target + ".part", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "place"])
        for number, (name, rows) in enumerate(tasks, 1):
            part = None if vectors is None else vectors[begin : begin + len(rows)]
            begin += len(rows)
            writer.writerows([name, place] for place in label_all(rows, growth, preset, part))
            print(f"{name}: {number} of {len(tasks)}", file=sys.stderr, flush=True)
    os.replace(target + ".part", target)


if __name__ == "__main__":
    main()
