"""Model configs for scoring alone: components that need torch replaced by ones that do not, where there are such."""

from __future__ import annotations

from typing import Any

from linker.common.errors import ConfigError
from linker.config import check, resolve
from linker.models.model import Model

_KEPT = ("tokenizer", "max_article_tokens", "max_post_tokens", "similarity", "title_share")


def for_scoring(config: Any) -> Any:
    """The config of a model that reads the same folder and gives the same scores, but need not be trainable.

    Today `siamese` with `word_vectors` and `mean` becomes `word_means`. A config that has nothing to replace, or
    faults, is given back as it is.
    """
    lighter = _lighter(config)
    return lighter if lighter != config and not check(Model, lighter) else config


def _lighter(config: Any) -> Any:
    if isinstance(config, list):
        return [_lighter(one) for one in config]
    if not isinstance(config, dict):
        return config
    if config.get("type") == "siamese":
        return _word_means(config) or config
    return {key: _lighter(value) for key, value in config.items()}


def _word_means(config: dict[str, Any]) -> dict[str, Any] | None:
    """`word_means` for the config of a `siamese`; None where that is another model."""
    try:
        whole = resolve(Model, config)
    except ConfigError:
        return None
    embedder = whole["embedder"]
    if whole["encoder"]["type"] != "mean" or embedder["type"] != "word_vectors":
        return None
    return {
        "type": "word_means",
        **{key: whole[key] for key in _KEPT},
        **{key: embedder[key] for key in ("dim", "unknown", "buckets")},
    }
