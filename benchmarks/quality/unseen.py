"""Quality on sources that `best` has not seen: ``python -m benchmarks.quality.unseen DATA PARTS SETS RIVAL ...``.

DATA has a folder for each of the sets below; SETS are some of them, divided by commas, or `all`. PARTS has for each set
a multilingual part whose network and heads were trained without it (`scripts/finetune_multilingual.py`,
`scripts/make_pretrained.py multilingual`). The English network was trained on plazz, politifact and snopes. A rival is
whatever `linker rank --model` takes.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import ignore_patterns

from linker.data import read_articles, read_posts
from linker.data.types import LinkedPosts, Post
from linker.evaluation.metrics.ranking import per_article
from linker.evaluation.significance import mean_intervals
from linker.models.elapsed_time import without_dates
from linker.models.files.archive import load_model, write_manifest
from linker.models.files.resolve import resolve_model
from linker.models.model import Model
from linker.models.pretrained import BEST, FOLDERS, MULTILINGUAL

#: Folder of a real set → what it is.
SETS = {
    "facebook_pages_en": "Facebook posts of English outlets, headlines",
    "facebook_2017_en": "Facebook posts of English outlets, ledes",
    "facebook_xling_zh_tl_en": "Chinese and Tagalog posts, English headlines",
    "checkthat25_claims": "claims in 14 languages",
    "derstandard_de": "German comments",
    "turnbackhoax_id": "Indonesian hoaxes",
    "korean_news_comments": "Korean comments",
    "vsolscsum_vi": "Vietnamese comments",
}
_ARTICLES, _POSTS_OF_EACH, _POSTS = 400, 40, 3_000


def drawn(linked: LinkedPosts) -> LinkedPosts:
    """Return up to 400 of the articles that posts discuss, up to 40 posts of each, and others, 3,000 or more in all."""
    chance = random.Random(0)
    of_each: dict[str, list[Post]] = {}
    for post in linked.posts:
        for article in post.article_ids:
            of_each.setdefault(article, []).append(post)
    articles = [article for article in linked.articles if article.id in of_each]
    articles = chance.sample(articles, min(_ARTICLES, len(articles)))
    of_articles = (of_each[article.id] for article in articles)
    samples = (chance.sample(posts, min(_POSTS_OF_EACH, len(posts))) for posts in of_articles)
    chosen = {post.id: post for posts in samples for post in posts}
    rest = [post for post in linked.posts if post.id not in chosen]
    others = chance.sample(rest, min(len(rest), max(0, _POSTS - len(chosen))))
    return LinkedPosts(articles, [*chosen.values(), *others])


def best_with(part: Path, folder: Path) -> Model:
    """Return `best` with another multilingual part, written to a folder."""
    shutil.copytree(FOLDERS[BEST], folder, ignore=ignore_patterns(MULTILINGUAL.name))
    shutil.copytree(part, folder / MULTILINGUAL.relative_to(FOLDERS[BEST]))
    write_manifest(folder)
    return load_model(folder, for_scoring=True)


def of_sets(data: Path, parts: Path, sets: Sequence[str], rivals: Sequence[str]) -> Iterator[str]:
    """Yield the table of MAP, each article alone, by text, with 95 % intervals."""
    yield f"| | `best` | {' | '.join(Path(rival).stem for rival in rivals)} |"
    yield "|---" * (len(rivals) + 2) + "|"
    for name in sets:
        files = (str(data / name / f"{part}.jsonl.gz") for part in ("articles", "posts"))
        linked = drawn(LinkedPosts(read_articles(next(files)), read_posts(next(files))))
        ids, row = [post.id for post in linked.posts], f"| {SETS[name]} |"
        with tempfile.TemporaryDirectory() as temporary:
            for model in (
                best_with(parts / name, Path(temporary, BEST)),
                *(resolve_model(rival).load() for rival in rivals),
            ):
                scores = model.score_independently(without_dates(linked.articles), linked.posts)
                precisions = 100 * per_article(scores, linked.relevance(), ids)["MAP"]
                low, high = mean_intervals(precisions[:, None])
                row += f" {precisions.mean():.1f} ({low[0]:.1f} to {high[0]:.1f}) |"
        yield row


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    folder, parts, names, *others = sys.argv[1:]
    for line in of_sets(Path(folder), Path(parts), [*SETS] if names == "all" else names.split(","), others):
        print(line, flush=True)
