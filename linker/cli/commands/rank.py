"""`linker rank`: rank posts for an article."""

from typing import Annotated

import typer

from linker.cli import status
from linker.cli.inputs import ArticleSources, PostReading, check_files, default_posts
from linker.cli.options import ModelName
from linker.cli.ranking import RankingOptions
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
    each: Annotated[bool, typer.Option("--each", metavar="", help="Rank posts for each article.")] = False,
    options: RankingOptions,
) -> None:
    """Rank posts by how likely they are to discuss an article, best first."""
    sources.begin()
    folder = options.folder_of_each() if each else None
    # Everything that can be wrong is checked before the work begins: names first, the model last.
    request, faults, default = options.request(), Faults(), None
    if not posts:
        with faults:
            default = default_posts(sources.article)
        posts = [default] if default else []
    check_files(sources.article, posts, options.out, faults)
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

    from linker.ranking.ranker import Ranker
    from linker.ranking.search import ARTICLES_AT_ONCE

    ranker = Ranker(reference.load(), reference.file_name, once=len(articles) <= ARTICLES_AT_ONCE)
    status.step(f"scoring {len(candidates):,} posts")
    if each:
        options.show_each(ranker.answer_each(articles, candidates, request), request, folder)
    else:
        options.show(ranker.answer(articles, candidates, request), request)
