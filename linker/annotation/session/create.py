"""Creation of a session; a separate module because only this step needs a model."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from linker.annotation.build_pool import build_pool
from linker.annotation.codebook import Codebook
from linker.annotation.pool import Pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.session.contents import Settings
from linker.annotation.session.events import now
from linker.annotation.session.label_set import label_set_problem
from linker.annotation.session.session_file import check_new, write_session
from linker.annotation.stopping_rules.stopping_rule import StoppingRule
from linker.common.errors import DataError, LinkerError
from linker.config import build, resolve
from linker.data.languages import languages_of
from linker.data.types import Article, Post
from linker.models.features.memory_table import MemoryTable
from linker.models.files.resolve import resolve_model
from linker.ranking.explanation import Explainer
from linker.ranking.query_warnings import language_warning, warn_once


def start(
    folder: Path,
    articles: Sequence[Article],
    posts: Sequence[Post],
    wanted: Settings,
    strategy: dict[str, Any] | str,
    rule: dict[str, Any] | str,
    former: tuple[Pool, Sequence[Post]] | None = None,
) -> None:
    """Write the folder of a new session; see `Session.create`. `former`: a session's pool and posts, to add to."""
    if not 0 <= wanted.overlap <= 1:
        raise LinkerError(f"overlap {wanted.overlap}: not a share of the posts; use a number from 0 to 1")
    if not articles or not posts:
        raise DataError(f"no {'post' if articles else 'article'} was given")
    if problem := label_set_problem(wanted.labels):
        raise LinkerError(f"label set: {problem}")
    codebook = build(Codebook, {"questions": wanted.questions})
    if wanted.labels_per_post < 2:
        raise LinkerError(
            f"labels per post {wanted.labels_per_post}: posts of the overlap have 2 or more; for one, use overlap 0"
        )
    settings = replace(
        wanted,
        strategy=resolve(QueryStrategy, strategy),
        rule=resolve(StoppingRule, rule),
        created=now().isoformat(timespec="seconds"),
        questions=[asdict(one) for one in codebook.questions],
    )
    # Values that types do not rule out, such as a share of 7, are refused when they are built.
    build(QueryStrategy, settings.strategy)
    build(StoppingRule, settings.rule)
    check_new(folder)
    found = resolve_model(settings.model)
    settings = replace(settings, model=found.pinned(settings.model))
    scorer = found.load()
    warn_once(language_warning(scorer, articles, languages_of(posts)))
    groups = [(post, *copies) for post, copies in zip(former[0].posts, former[0].copies)] if former else []
    pool = build_pool(articles, posts, scorer, former=groups)
    # By words alone, which takes no time to encode; None if the model has no such explanations.
    explanations = Explainer(scorer, MemoryTable(pool.posts), pool.articles, encode=False).words(pool.posts)
    write_session(folder, settings, pool, [*(former[1] if former else ()), *posts], explanations)
