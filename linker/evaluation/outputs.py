"""The files that an evaluation leaves behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linker.calibration.score_files import write_scores
from linker.common.console import stderr
from linker.common.errors import DataError, LinkerError
from linker.common.files import check_writable
from linker.data.splitters.splitter import part_of
from linker.data.types import LinkedPosts
from linker.evaluation.comparison import Comparison
from linker.evaluation.trec import check_ids, write_qrels, write_run
from linker.models.archive import write_json
from linker.models.passage_pooling import Passages, with_passages
from linker.models.resolve import Contender


def evaluate_models(
    contenders: Sequence[Contender],
    linked: LinkedPosts,
    outputs: Outputs,
    passages: Passages = "whole",
    one_at_a_time: bool = False,
) -> Comparison:
    """Score, measure and write one model after the other; all are loaded before the first one scores.

    Args:
        contenders: the models.
        linked: what to score.
        outputs: the files to write.
        passages: how all of them read articles.
        one_at_a_time: score each article by itself, as `linker rank` does, instead of all articles in one call.

    Raises:
        LinkerError: a model that cannot be loaded or gives scores that cannot be ranked, or nothing to
            evaluate.
    """
    comparison = Comparison(linked, one_at_a_time=one_at_a_time)
    outputs.check_ids(comparison.article_ids, comparison.post_ids)
    models = [with_passages(contender.load(), passages) for contender in contenders]
    for number, (contender, model) in enumerate(zip(contenders, models)):
        stderr.print(
            f"{contender.name}: scoring {len(linked.posts):,} posts for {len(linked.articles):,} articles",
            style="dim",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
        score = model.score_independently if one_at_a_time else model.score
        scores = score(linked.articles, linked.posts)
        comparison.add(contender.name, scores)
        outputs.write_model(contender, number == 0, scores, comparison)
    return comparison


def only_split(linked: LinkedPosts, split: str) -> LinkedPosts:
    """The articles and posts whose `split` is the given one, as the splitter `given` makes its parts.

    An article without a split is a candidate in every part; a post without one has that of its article.

    Raises:
        DataError: there are none.
    """
    of_article = {article.id: article.split for article in linked.articles}
    of_post = [
        post.split or next((of_article[i] for i in post.article_ids if of_article.get(i)), None)
        for post in linked.posts
    ]
    posts = [post for post, its in zip(linked.posts, of_post) if its == split]
    articles = [article for article in linked.articles if article.split in (split, None)]
    if not posts or not articles:
        counts = Counter(its or "none" for its in of_post)
        found = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        raise DataError(f"--split {split}: no posts with articles have it; the posts' splits are: {found}")
    return part_of(articles, posts)


PLACEHOLDER = "{model}"


@dataclass(frozen=True)
class Outputs:
    """What is to be written where; None: not at all.

    `run` and `scores` hold one model. A name with `{model}` in it stands for one file a model, baselines
    included; any other is the file of the one model that was given.
    """

    json: Path | None = None
    qrels: Path | None = None
    run: Path | None = None
    scores: Path | None = None

    def check(self, contenders: Sequence[Contender], given: int, inputs: Sequence[Path]) -> None:
        """Find out before any work whether everything can be written.

        Args:
            contenders: all models, the `given` first ones given by the user.
            given: how many the user gave.
            inputs: files that must not be overwritten.

        Raises:
            LinkerError: a file that cannot be written, is named twice, is an input, or would hold several
                models.
        """
        for option, pattern in (("--run", self.run), ("--scores", self.scores)):
            if pattern and given > 1 and PLACEHOLDER not in str(pattern):
                suggestion = pattern.with_name(f"{pattern.stem}-{PLACEHOLDER}{pattern.suffix}")
                raise LinkerError(
                    f"{option} {pattern}: one file cannot hold {given} models; write {PLACEHOLDER} where "
                    f"their names belong, as in {option} '{suggestion}'"
                )
        taken = {path.resolve(): f"the input {path}" for path in inputs}
        for path in self._all(contenders, given):
            if path.resolve() in taken:
                raise LinkerError(f"{path}: would overwrite {taken[path.resolve()]}; choose another name")
            taken[path.resolve()] = "another output of this command"
            check_writable(path)

    def check_ids(self, article_ids: Sequence[str], post_ids: Sequence[str]) -> None:
        """Find out before any model scores whether the files can hold the ids.

        Raises:
            LinkerError: TREC files are wanted, and an id is empty or holds white space.
        """
        if self.run or self.qrels:
            check_ids(article_ids, post_ids)

    def write_model(
        self, contender: Contender, is_first: bool, scores: np.ndarray, comparison: Comparison
    ) -> None:
        """Write the run and the scores of one model, if they are wanted of it."""
        ids = comparison.article_ids, comparison.post_ids
        if run := _path(self.run, contender, is_first):
            write_run(run, scores, *ids, tag=contender.file_name)
        if file := _path(self.scores, contender, is_first):
            write_scores(file, scores, *ids)

    def write_rest(self, comparison: Comparison, baseline: str) -> None:
        """Write the qrels and the results."""
        if self.qrels:
            write_qrels(self.qrels, comparison.relevance, comparison.article_ids, comparison.post_ids)
        if self.json:
            write_json(self.json, comparison.as_json(baseline))

    def _all(self, contenders: Sequence[Contender], given: int) -> list[Path]:
        paths = [self.json, self.qrels]
        for number, contender in enumerate(contenders):
            paths += [_path(pattern, contender, number == 0) for pattern in (self.run, self.scores)]
        return [path for path in paths if path is not None]


def _path(pattern: Path | None, contender: Contender, is_first: bool) -> Path | None:
    """The file of this model; None where it gets none."""
    if pattern is None:
        return None
    if PLACEHOLDER in str(pattern):
        return Path(str(pattern).replace(PLACEHOLDER, contender.file_name))
    return pattern if is_first else None
