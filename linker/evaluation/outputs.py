"""Evaluate models and write the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linker.common.console import info
from linker.common.errors import DataError, LinkerError
from linker.common.files import check_writable, real_path, write_json
from linker.data.splitters.splitter import part_of, splits_of_posts
from linker.data.types import LinkedPosts
from linker.evaluation.comparison import Comparison, Difference
from linker.evaluation.trec import check_ids, write_qrels, write_run, write_scores
from linker.models.elapsed_time import without_dates
from linker.models.files.resolve import ModelReference
from linker.models.score_scale import ScoreScale


def evaluate_models(
    models: Sequence[ModelReference],
    linked: LinkedPosts,
    outputs: Outputs,
    one_at_a_time: bool = False,
    ignore_dates: bool = False,
) -> Comparison:
    """Score, measure and write each model; all are loaded before the first one scores.

    Args:
        models: the models.
        linked: articles and posts.
        outputs: the files to write.
        one_at_a_time: score each article by itself, as `linker rank` does, instead of all articles in one call.
        ignore_dates: score by text alone.

    Raises:
        LinkerError: if a model cannot be loaded or gives invalid scores, or there is nothing to evaluate.
    """
    comparison = Comparison(linked, one_at_a_time=one_at_a_time)
    if outputs.run or outputs.qrels:
        check_ids(comparison.article_ids, comparison.post_ids)
    loaded = [reference.load() for reference in models]
    articles = without_dates(linked.articles) if ignore_dates else linked.articles
    for number, (reference, model) in enumerate(zip(models, loaded)):
        info(
            f"{reference.name}: scoring {len(linked.posts):,} posts for {len(linked.articles):,} "
            f"article{'s' * (len(linked.articles) != 1)}",
            "dim",
        )
        score = model.score_independently if one_at_a_time else model.score
        scores = score(articles, linked.posts)
        comparison.add(reference.name, scores)
        outputs.write_model(reference, number == 0, scores, comparison, model.score_scale())
    return comparison


def only_split(linked: LinkedPosts, split: str) -> LinkedPosts:
    """Return the articles and posts of a split.

    An article without a split is a candidate in every split; a post without one has that of its article.

    Raises:
        DataError: if there are none.
    """
    of_post = splits_of_posts(linked)
    posts = [post for post, part in zip(linked.posts, of_post) if part == split]
    articles = [article for article in linked.articles if article.split in (split, None)]
    if not posts or not articles:
        counts = Counter(part or "none" for part in of_post)
        splits = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        raise DataError(f"--split {split}: no posts with articles have it; the posts' splits are: {splits}")
    return part_of(articles, posts)


PLACEHOLDER = "{model}"


@dataclass(frozen=True)
class Outputs:
    """Files to write; None: not written.

    `run` and `scores` contain one model. A name with `{model}` means one file per model, baselines included; any
    other is the file of the only given model.
    """

    json: Path | None = None
    qrels: Path | None = None
    run: Path | None = None
    scores: Path | None = None

    def check(self, models: Sequence[ModelReference], given: int, inputs: Sequence[Path]) -> None:
        """Check before any work that all files can be written.

        Args:
            models: all models, those given by the user first.
            given: number of models given by the user.
            inputs: files that must not be overwritten.

        Raises:
            LinkerError: if a file cannot be written, is named twice, is an input, or would contain several models.
        """
        paths = [self.json, self.qrels]
        for option, pattern in (("--run", self.run), ("--scores", self.scores)):
            if pattern and given > 1 and PLACEHOLDER not in str(pattern):
                suggestion = pattern.with_name(f"{pattern.stem}-{PLACEHOLDER}{pattern.suffix}")
                raise LinkerError(
                    f"{option} {pattern}: one file cannot contain {given} models; write {PLACEHOLDER} in place "
                    f"of their names, as in {option} '{suggestion}'"
                )
            paths += [_path(pattern, model, number == 0) for number, model in enumerate(models)]
        taken = {real_path(path): f"the input {path}" for path in inputs}
        for path in filter(None, paths):
            if real_path(path) in taken:
                raise LinkerError(f"{path}: would overwrite {taken[real_path(path)]}; choose another name")
            taken[real_path(path)] = "another output of this command"
            check_writable(path)

    def write_model(
        self,
        model: ModelReference,
        is_first: bool,
        scores: np.ndarray,
        comparison: Comparison,
        scale: ScoreScale,
    ) -> None:
        """Write the run and the scores of one model, if requested; raw scores are mapped by the scale."""
        ids = comparison.article_ids, comparison.post_ids
        if run := _path(self.run, model, is_first):
            write_run(run, scores, *ids, tag=model.file_name, scale=scale)
        if file := _path(self.scores, model, is_first):
            write_scores(file, scale(scores), *ids)

    def write_rest(self, comparison: Comparison, baseline: str, differences: Sequence[Difference]) -> None:
        """Write the qrels and the results."""
        if self.qrels:
            write_qrels(self.qrels, comparison.relevance, comparison.article_ids, comparison.post_ids)
        if self.json:
            write_json(self.json, comparison.as_json(baseline, differences))


def _path(pattern: Path | None, model: ModelReference, is_first: bool) -> Path | None:
    """Return the file of this model; None if it has none."""
    if pattern is not None and PLACEHOLDER in str(pattern):
        return Path(str(pattern).replace(PLACEHOLDER, model.file_name))
    return pattern if is_first else None
