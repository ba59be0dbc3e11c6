"""The family of tokenizers."""

from __future__ import annotations

from linker.config import Registrable


class Tokenizer(Registrable):
    """Splits a text into tokens. Tokens are non-empty and hold no white space."""

    default_component = "social"

    def tokenize(self, text: str) -> list[str]:
        """The tokens of `text`, in order; none for a text without any."""
        raise NotImplementedError
