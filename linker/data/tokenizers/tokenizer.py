"""Base class of tokenizers."""

from linker.config import Registrable


class Tokenizer(Registrable):
    """Splits texts into tokens; tokens are non-empty and have no white space."""

    default_component = "social"

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of `text`, in order; may be empty."""
        raise NotImplementedError
