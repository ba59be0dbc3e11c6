"""Model configs for inference: components that need torch are replaced by NumPy equivalents where these exist."""

from __future__ import annotations

from typing import Any

from linker.common.errors import ConfigError
from linker.config import check, resolve
from linker.models.model import Model

_KEPT = ("tokenizer", "max_article_tokens", "max_post_tokens", "similarity", "title_weight")


def scoring_config(config: Any) -> Any:
    """Return the config of a model that loads the same folder and gives the same scores, but cannot be trained.

    `siamese` with `word_vectors` and `mean` becomes `averaged_word_vectors`. An invalid config, or one without such a
    component, is returned unchanged.

    Args:
        config: the section `model` of a config.
    """
    replaced = _replace(config)
    return replaced if replaced != config and not check(Model, replaced) else config


def _replace(config: Any) -> Any:
    if isinstance(config, list):
        return [_replace(item) for item in config]
    if not isinstance(config, dict):
        return config
    if config.get("type") == "siamese":
        return _averaged_word_vectors(config) or config
    return {key: _replace(value) for key, value in config.items()}


def _averaged_word_vectors(config: dict[str, Any]) -> dict[str, Any] | None:
    """Config of `averaged_word_vectors` for a `siamese` that averages word vectors; None for any other."""
    try:
        whole = resolve(Model, config)
    except ConfigError:
        return None
    embedder = whole["embedder"]
    if whole["encoder"]["type"] != "mean" or embedder["type"] != "word_vectors":
        return None
    return {
        "type": "averaged_word_vectors",
        **{key: whole[key] for key in _KEPT},
        **{key: embedder[key] for key in ("dim", "unknown", "buckets")},
    }
