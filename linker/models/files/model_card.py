"""Model cards: `README.md` in every model folder, with the front matter that a Hugging Face hub reads."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from linker.data.types import LinkedPosts
from linker.models.files.archive import walk
from linker.version import __version__

if TYPE_CHECKING:
    from linker.models.siamese.siamese import SiameseModel

_SCORES = {
    "article_softmax": "the log-odds that the post discusses the article and not another one of the call, or none",
    "ensemble": "a combination of the scores of several models",
}


def model_card(
    config: dict[str, Any],
    metrics: dict[str, Any],
    train: LinkedPosts,
    dev: LinkedPosts | None,
    model: SiameseModel,
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
    from jinja2 import Template

    encoder = config["model"].get("encoder", config["model"]["type"])
    teacher = config["loss"].get("teacher")
    training = _size(train)
    if teacher:
        training = f"the embeddings of the teacher {teacher} of {len(train.posts):,} texts, no links"
    parts = [part for part in walk(config["model"]) if isinstance(part, dict)]
    networks = {str(part.get("path")) for part in parts if part.get("type") == "transformer"}
    text = (files("linker.models.files") / "model_card_template.md").read_text(encoding="utf-8")
    card = Template(text).render(
        encoder=encoder["type"] if isinstance(encoder, dict) else encoder,
        score=_SCORES.get(config["model"]["type"], "the cosine of two embeddings"),
        languages=sorted({language for part in parts for language in part.get("languages") or ()}),
        base_models=sorted(path for path in networks if re.fullmatch(r"\w[\w.-]*/[\w.-]+", path)),
        training=training,
        vocabulary=model.description,
        start=config.get("start"),
        dev=dev and _size(dev),
        best_epoch=metrics["best_epoch"],
        metrics=metrics["dev"],
        version=__version__,
    )
    return f"{card}\n"


def _size(data: LinkedPosts) -> str:
    if not data.articles:
        return f"{len(data.posts):,} texts"
    return f"{len(data.articles):,} articles and {len(data.posts):,} posts"
