"""Optional import of torchtext, for the components that call it."""

import importlib
from typing import Any

from linker.common.errors import ConfigError


def import_torchtext(module: str) -> Any:
    """Import a module of torchtext, such as `vocab`.

    Raises:
        ConfigError: if torchtext is not installed, or not compatible with the installed torch.
    """
    try:
        torchtext = importlib.import_module("torchtext")
        torchtext.disable_torchtext_deprecation_warning()
        return importlib.import_module(f"torchtext.{module}")
    except (ImportError, OSError) as error:  # OSError: its compiled part needs one exact version of torch
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f'torchtext cannot be imported ({reason}), which components of type "torchtext" need. Its last version, '
            "0.18, requires torch 2.3: pip install 'article-linker[torchtext]' in a separate environment. "
            'Or do without: the tokenizer "basic_english" gives the same tokens, and vectors of type "file" read '
            "the same vectors and torchtext's caches"
        ) from error
