"""`linker annotate start`: create a session."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.inputs import ArticleSources, PostConditions, PostReading, check_files
from linker.cli.options import ModelName, component
from linker.cli.status import say
from linker.common.errors import Faults, LinkerError
from linker.models.pretrained import BEST


def start(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder to create for the session.")],
    sources: ArticleSources,
    posts: Annotated[
        list[str], typer.Option(help="Posts to label: files, folders, addresses or -; repeatable.")
    ],
    model: ModelName = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="Strategy that orders the posts: NAME, NAME,KEY=VALUE,…, or a Jsonnet file.",
            show_default="active_learning",
        ),
    ] = None,
    stop: Annotated[
        str | None,
        typer.Option(
            help="Rule that says when to stop labeling: NAME, NAME,KEY=VALUE,…, or a Jsonnet file.",
            show_default="recall",
        ),
    ] = None,
    guidelines: Annotated[
        Path | None, typer.Option(help="Guidelines to show to annotators: a Markdown or text file.")
    ] = None,
    codebook: Annotated[
        Path | None, typer.Option(help="Codebook: a Jsonnet file with question, labels and questions.")
    ] = None,
    overlap: Annotated[
        float, typer.Option(help="Share of the posts that two annotators label, 0 to 1.")
    ] = 0.0,
    blind: Annotated[
        bool,
        typer.Option("--blind", help="Hide scores, marked words, and how posts are drawn from annotators."),
    ] = False,
    seed: Annotated[
        int, typer.Option(help="Random seed of samples and of the order of tied posts.", min=0)
    ] = 13,
    reading: PostReading,
    conditions: PostConditions,
) -> None:
    """Create a session: a folder with the articles, the posts and all labels."""
    from linker.annotation.codebook import Codebook
    from linker.annotation.query_strategies.query_strategy import QueryStrategy
    from linker.annotation.session.session import RULE, STRATEGY, Session
    from linker.annotation.session.session_file import check_new
    from linker.annotation.stopping_rules.stopping_rule import StoppingRule
    from linker.cli.annotate.terminal import and_copies
    from linker.config import build, load_config, resolve
    from linker.data.post_filter import Filter
    from linker.models.files.resolve import resolve_model

    # Everything that can be wrong is checked before the work begins: names first, the model last.
    check_new(folder)
    faults = Faults()
    check_files(sources.article, posts, None, faults)
    reading.columns()
    within = Filter(conditions.since, conditions.until, tuple(conditions.lang or ()))
    chosen = resolve_model(model or BEST).pinned(model or BEST)
    ordering, rule = component("--strategy", strategy or STRATEGY), component("--stop", stop or RULE)
    build(QueryStrategy, ordering)  # reports what is wrong with them
    build(StoppingRule, rule)
    build(Codebook, book := resolve(Codebook, load_config(codebook) if codebook else {}))
    text = _guidelines(guidelines)
    articles = sources.load(faults)
    candidates, left_out = within.kept(reading.read(posts))
    for line in left_out:
        say(line)
    if model is None:
        say(f"no --model given: scoring with `{BEST}`, the bundled model, which encodes every post once")
    session = Session.create(
        folder, articles, candidates, chosen, ordering, rule, text, seed, overlap, blind=blind, **book
    )
    copies = len(candidates) - len(session.pool)
    say(f"{len(session.pool):,} posts to label{and_copies(copies)}")
    say(f"label with `linker annotate run {folder}`, or in the browser with `linker serve {folder}`")
    print(folder)


def _guidelines(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise LinkerError(f"{path}: not UTF-8 text; guidelines are Markdown or text") from error
    except OSError as error:
        raise LinkerError(f"{path}: cannot be read ({error.strerror})") from error
