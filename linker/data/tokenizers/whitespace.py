"""For texts that are tokenized already."""

from __future__ import annotations

from linker.data.tokenizer import Tokenizer


@Tokenizer.register("whitespace")
class WhitespaceTokenizer(Tokenizer):
    """Splits at white space only.

    Args:
        lowercase: lower-case everything.
    """

    def __init__(self, lowercase: bool = False) -> None:
        self.lowercase = lowercase

    def tokenize(self, text: str) -> list[str]:
        """The tokens of `text`, in order."""
        return (text.lower() if self.lowercase else text).split()
