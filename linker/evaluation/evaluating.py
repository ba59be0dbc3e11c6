"""From models and data to a comparison and its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from linker.data.splitter import part_of
from linker.data.types import LinkedPosts
from linker.errors import DataError
from linker.evaluation.comparison import Comparison
from linker.evaluation.contenders import Contender
from linker.evaluation.outputs import Outputs
from linker.models.passages import Passages, reading
from linker.progress import stderr


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
    models = [reading(contender.load(), passages) for contender in contenders]
    for number, (contender, model) in enumerate(zip(contenders, models)):
        stderr.print(
            f"{contender.name}: scoring {len(linked.posts):,} posts for {len(linked.articles):,} articles",
            style="dim",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
        score = model.score_alone if one_at_a_time else model.score
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
