"""Simple tokenizers: white space, torchtext's rules, and torchtext itself."""

from typing_extensions import override

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

    @override
    def tokenize(self, text: str) -> list[str]:
        return (text.lower() if self.lowercase else text).split()


_RULES = str.maketrans({mark: f" {mark} " for mark in "'.,()!?"} | {";": " ", ":": " "})


@Tokenizer.register("basic_english")
class BasicEnglishTokenizer(Tokenizer):
    """Lower-cases, separates `' . , ( ) ! ?`, removes `"`, and replaces `;`, `:` and `<br />` by spaces.

    Equals torchtext 0.18's `get_tokenizer("basic_english")`. It splits links and emoticons; for posts `social` is the
    better choice.
    """

    @override
    def tokenize(self, text: str) -> list[str]:
        # In torchtext's order: quotes before line breaks, `;` and `:` after.
        return text.lower().replace('"', "").replace("<br />", " ").translate(_RULES).split()


@Tokenizer.register("torchtext")
class TorchtextTokenizer(Tokenizer):
    """torchtext's `get_tokenizer`. Needs the extra `[torchtext]`; the tokenizer `basic_english` does not."""

    def __init__(self, name: str = "basic_english") -> None:
        """Load torchtext's tokenizer.

        Args:
            name: torchtext's name: `basic_english`, or one that needs another package: `spacy`, `moses`, `toktok`,
                `revtok`, `subword`.

        Raises:
            ConfigError: if torchtext or the other package cannot be imported, or the name is unknown.
        """
        get_tokenizer = import_torchtext("data.utils").get_tokenizer
        try:
            self._tokenize = get_tokenizer(name)
        except (ImportError, OSError, LookupError, ValueError) as error:
            raise ConfigError(f"torchtext cannot load the tokenizer {name!r}: {error}") from error

    def tokenize(self, text: str) -> list[str]:
        """Tokenize `text`; tokens of torchtext with white space in them are split."""
        return [token for token_ in self._tokenize(text) for token in token_.split()]
