"""The tokenizers of torchtext itself."""

from __future__ import annotations

from linker.common.errors import ConfigError
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.torchtext_import import import_torchtext


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


_RULES = str.maketrans({mark: f" {mark} " for mark in "'.,()!?"} | {";": " ", ":": " "})


@Tokenizer.register("basic_english")
class BasicEnglishTokenizer(Tokenizer):
    """Lower-cases, sets `' . , ( ) ! ?` apart, drops `"`, and makes spaces of `;`, `:` and `<br />`.

    Gives the tokens of torchtext 0.18's `get_tokenizer("basic_english")`. It tears links and emoticons apart:
    for posts `social` is the better choice.
    """

    def tokenize(self, text: str) -> list[str]:
        """The tokens of `text`, in order."""
        # In torchtext's order: quotes go before line breaks are looked for, `;` and `:` after.
        return text.lower().replace('"', "").replace("<br />", " ").translate(_RULES).split()


@Tokenizer.register("torchtext")
class TorchtextTokenizer(Tokenizer):
    """Calls torchtext's `get_tokenizer`. Needs the extra `[torchtext]`; `basic_english` alone does not."""

    def __init__(self, name: str = "basic_english") -> None:
        """Ask torchtext for the tokenizer.

        Args:
            name: what torchtext calls it: `basic_english`, or one of those for which it needs another package:
                `spacy`, `moses`, `toktok`, `revtok`, `subword`.

        Raises:
            ConfigError: torchtext or the other package cannot be imported, or torchtext knows no such tokenizer.
        """
        get_tokenizer = import_torchtext("data.utils").get_tokenizer
        try:
            self._tokenize = get_tokenizer(name)
        except (ImportError, OSError, LookupError, ValueError) as error:
            raise ConfigError(f"torchtext gives no tokenizer {name!r}: {error}") from error

    def tokenize(self, text: str) -> list[str]:
        """The tokens of `text`, in order, without the white space that some of torchtext's tokens hold."""
        return [token for found in self._tokenize(text) for token in found.split()]
