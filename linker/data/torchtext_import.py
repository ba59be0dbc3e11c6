"""The way to torchtext itself, for the components that call it."""

from __future__ import annotations

import importlib
from typing import Any

from linker.common.errors import ConfigError


def import_torchtext(module: str) -> Any:
    """A module of torchtext, such as `vocab`.

    Raises:
        ConfigError: torchtext is not installed, or does not fit the torch that is.
    """
    try:
        torchtext = importlib.import_module("torchtext")
        torchtext.disable_torchtext_deprecation_warning()
        return importlib.import_module(f"torchtext.{module}")
    except (ImportError, OSError) as error:  # OSError: its compiled part fits one version of torch only
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f'components of type "torchtext" call torchtext, which cannot be imported here ({reason}). It ended '
            "with 0.18 and works with torch 2.3 only: pip install 'article-linker[torchtext]' in an environment of "
            'its own. Without it, the tokenizer "basic_english" gives the same tokens, and vectors of type "file" '
            "read the same vectors and torchtext's caches"
        ) from error
