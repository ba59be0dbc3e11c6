"""The rules of torchtext's `basic_english`, for models that were made with it."""

from __future__ import annotations

from linker.data.tokenizer import Tokenizer

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
