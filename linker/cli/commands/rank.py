"""`linker rank`: rank posts for an article."""

from __future__ import annotations

from typing import Annotated

import typer

from linker.cli import status
from linker.cli.articles import ArticleSources
from linker.cli.default_posts import default_posts
from linker.cli.options import ModelName, PostReading, check_files
from linker.cli.ranking import RankingOptions, say_dates
from linker.common.errors import Faults
from linker.models.pretrained import BEST


def rank(
    *,
    sources: ArticleSources,
    posts: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Posts: files, folders, URLs or -; default: those found here."),
    ] = None,
    reading: PostReading,
    model: ModelName = None,
    options: RankingOptions,
) -> None:
    """Rank posts by how likely they are to discuss an article, best first."""
    sources.begin()
    # Everything that can be wrong is checked before the work begins: names first, the model last.
    request, faults, default = options.request(), Faults(), None
    if not posts:
        with faults:
            default = default_posts(sources.article)
        posts = [default] if default else []
    check_files(sources.article, posts, options.out, faults)
    if not posts:
        sources.load(faults)  # raises: articles and posts are reported together
    reading.columns()

    from linker.models.files.resolve import resolve_model

    reference = resolve_model(model or BEST)
    if request.calibration is not None:
        request.check_model(reference.fingerprint)
    articles = sources.load(faults)
    if default is not None:
        status.say(f"posts: {default} (default; for others give --posts FILE)")
    status.step("reading the posts")  # before the model is loaded: most mistakes are in files
    candidates = reading.read(posts)
    for line in request.filter.left_out(candidates) if request.filter else []:
        status.say(line)
    status.step(f"loading {reference.file_name}")
    if model is None:
        status.say(f"no --model given: ranking with `{BEST}`, the bundled model")

    from linker.models.elapsed_time import uses_dates
    from linker.ranking.ranker import Ranker

    ranker = Ranker(reference.load(), reference.file_name)
    has_dates = any(post.created_at for post in candidates)
    if not options.ignore_dates and uses_dates(ranker.model, articles, has_dates):
        say_dates(articles)
    status.step(f"scoring {len(candidates):,} posts")
    options.show(ranker.answer(articles, candidates, request), request)
