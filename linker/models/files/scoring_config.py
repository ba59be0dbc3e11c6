"""Model configs for inference: components that need torch are replaced by equivalents without it if these exist."""

from __future__ import annotations

from typing import Any

from linker.common.errors import ConfigError
from linker.config import check, resolve
from linker.models.model import Model

_KEPT = ("tokenizer", "max_article_tokens", "max_post_tokens", "similarity", "title_weight")
_KEPT_BY_ONNX = (
    "max_article_tokens",
    "max_post_tokens",
    "normalization",
    "similarity",
    "title_weight",
    "article_prefixes",
    "embedding_precision",
)


def scoring_config(config: Any) -> Any:
    """Return the config of a model that loads the same folder and gives the same scores, but cannot be trained.

    `siamese` with `word_vectors` and `mean` becomes `averaged_word_vectors`; `transformer` with `precision: 'int8'`
    becomes `onnx_transformer`. An invalid config, or one without such a
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
    if config.get("type") == "transformer" and config.get("precision") == "int8":
        return {"type": "onnx_transformer", **{key: config[key] for key in _KEPT_BY_ONNX if key in config}}
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
