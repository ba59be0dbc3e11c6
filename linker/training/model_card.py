"""The model card that every model folder carries."""

from __future__ import annotations

from typing import Any

from linker.data.types import LinkedPosts
from linker.models.siamese.siamese import SiameseModel

_LOG_ODDS = "the log-odds that a post is about the article rather than another one of the call or none"
_SUM = "a weighted sum of the scores of several models"
_SCORE = {"article_softmax": _LOG_ODDS, "competing": _LOG_ODDS, "ensemble": _SUM, "hybrid": _SUM}


def model_card(
    config: dict[str, Any],
    metrics: dict[str, Any],
    train: LinkedPosts,
    dev: LinkedPosts | None,
    model: SiameseModel,
) -> str:
    """Markdown that says what the model is, what it learned from, how good it is and where not to trust it."""
    begun = [f"It began with the weights of {config['start']}."] if config.get("start") else []
    learned = [
        f"{len(train.articles):,} articles and {len(train.posts):,} posts; the readers and files are in `config.json`",
        f"under `data`. Vocabulary: {model.description}.",
        *begun,
    ]
    return _card(config, learned, _figures(metrics, dev))


def student_card(config: dict[str, Any], teacher: str, cosine: float, model: SiameseModel) -> str:
    """The same for a model that learned from a teacher alone; `cosine` to it, on texts kept out."""
    learned = [f"What the model {teacher} says of texts; no links. Vocabulary: {model.description}."]
    return _card(config, learned, [f"Mean cosine to the teacher on texts kept out: {cosine:.3f}."])


def _card(config: dict[str, Any], learned: list[str], figures: list[str]) -> str:
    kind = config["model"]["type"]
    encoder = config["model"].get("encoder", kind)
    name = encoder["type"] if isinstance(encoder, dict) else encoder
    lines = [
        f"# An article–post linker with a `{name}` encoder",
        "",
        f"Given a news article, it scores social-media posts by {_SCORE.get(kind, 'the cosine of their vectors')}:",
        "higher means more likely to talk about the article. Made with linker (`article-linker`).",
        "",
        "## Use",
        "",
        "    linker rank --article ARTICLE --posts POSTS --model FOLDER",
        "",
        "or in Python `linker.load(folder).rank(article, posts)`.",
        "",
        "## What it learned from",
        "",
        *learned,
        "",
        "## How good it is",
        "",
        *figures,
        "",
        "## Where not to trust it",
        "",
        "Scores say how close two texts are for this model; they are not probabilities, and a threshold that suits one",
        "set of posts may not suit another. Words it never saw get vectors made from their spelling. Expect less on",
        "other languages, topics and times than those it learned from, and check a sample by hand.",
    ]
    return "\n".join(lines) + "\n"


def _figures(metrics: dict[str, Any], dev: LinkedPosts | None) -> list[str]:
    if dev is None:
        return ["It was trained without a dev set: nothing was measured."]
    rows = [f"| {name} | {100 * value:.2f} |" for name, value in metrics["dev"].items()]
    return [
        f"On the dev split, {len(dev.articles):,} articles × {len(dev.posts):,} posts, after epoch",
        f"{metrics['best_epoch']}, which the same figures chose (so they flatter a little):",
        "",
        "| metric | % |",
        "|---|---|",
        *rows,
    ]
