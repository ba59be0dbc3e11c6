"""The model card in every model folder."""

from __future__ import annotations

from typing import Any

from linker.data.types import LinkedPosts
from linker.models.trainable import TrainableModel

_LOG_ODDS = (
    "the log-odds that the post discusses the article and not another one of the call, or none of them"
)
_COMBINATION = "a combination of the scores of several models"
_SCORE = {
    "article_softmax": _LOG_ODDS,
    "competing": _LOG_ODDS,
    "ensemble": _COMBINATION,
    "hybrid": _COMBINATION,
    "reranker": "that of the first stage, corrected for the best posts by a second one",
}


def model_card(
    config: dict[str, Any],
    metrics: dict[str, Any],
    train: LinkedPosts,
    dev: LinkedPosts | None,
    model: TrainableModel,
) -> str:
    """Return the model card: what the model is, what it was trained on, its figures, its limits.

    Args:
        config: the resolved training config.
        metrics: `best_epoch`, and the metrics on the `dev` set.
        train: the training set.
        dev: the dev set, if there is one.
        model: the trained model.

    Returns:
        Markdown.
    """
    kind = config["model"]["type"]
    encoder = config["model"].get("encoder") or config["model"].get("second_stage", kind)
    name = encoder["type"] if isinstance(encoder, dict) else encoder
    data = f"{len(train.articles):,} articles and {len(train.posts):,} posts"
    if teacher := config["loss"].get("teacher"):
        data = f"the embeddings of the teacher {teacher} of {len(train.posts):,} texts, no links"
    lines = [
        f"# An article–post linker with a `{name}` encoder",
        "",
        "Given a news article, it scores social-media posts: higher means more likely to discuss the article. A raw",
        f"score is {_SCORE.get(kind, 'the cosine of two embeddings')}; linker shows it as a number",
        "from 0 to 100. Made with linker (`article-linker`).",
        "",
        "## Use",
        "",
        "    linker rank --article ARTICLE --posts POSTS --model FOLDER",
        "",
        "or in Python `linker.load(folder).rank(article, posts)`.",
        "",
        "## Training data",
        "",
        f"Trained on {data};",
        f"`config.json` has the readers and files under `data`. Vocabulary: {model.description}.",
        *([f"Training started from the weights of {config['start']}."] if config.get("start") else []),
        "",
        "## Figures",
        "",
        *_figures(metrics, dev),
        "",
        "## Limits",
        "",
        "Scores are not probabilities, and a threshold that suits one set of posts may not suit another. Unknown words",
        "get vectors made from their spelling. Expect lower quality on other languages, topics and times than those of",
        "the training data, and check a sample by hand.",
    ]
    return "\n".join(lines) + "\n"


def _figures(metrics: dict[str, Any], dev: LinkedPosts | None) -> list[str]:
    if dev is None:
        return ["Trained without a dev set: nothing was measured."]
    rows = [f"| {name} | {100 * value:.2f} |" for name, value in metrics["dev"].items()]
    size = f"{len(dev.articles):,} articles × {len(dev.posts):,} posts"
    return [
        f"On the dev set, {size if dev.articles else f'{len(dev.posts):,} texts'}, after epoch",
        f"{metrics['best_epoch']}, which was chosen by them (so they are optimistic):",
        "",
        "| metric | % |",
        "|---|---|",
        *rows,
    ]
