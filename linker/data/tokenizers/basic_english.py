"""The rules of torchtext's `basic_english`, for models that were made with it."""

from __future__ import annotations

from linker.data.tokenizer import Tokenizer

_RULES = str.maketrans({mark: f" {mark} " for mark in "'.,()!?"} | {'"': "", ";": " ", ":": " "})


@Tokenizer.register("basic_english")
class BasicEnglishTokenizer(Tokenizer):
    """Lower-cases, sets `' . , ( ) ! ?` apart, drops `"`, and makes spaces of `;`, `:` and `<br />`.

    After the documentation of torchtext 0.18, `torchtext.data.utils.get_tokenizer`. It tears links and
    emoticons apart: for posts `social` is the better choice.
    """

    def tokenize(self, text: str) -> list[str]:
        """The tokens of `text`, in order."""
        return text.lower().translate(_RULES).replace("<br />", " ").split()
