"""The tokenizers."""

from linker.data.tokenizers.basic_english import BasicEnglishTokenizer
from linker.data.tokenizers.glove_twitter import GloveTwitterTokenizer
from linker.data.tokenizers.social import SocialTokenizer
from linker.data.tokenizers.torchtext import TorchtextTokenizer
from linker.data.tokenizers.whitespace import WhitespaceTokenizer

__all__ = [
    "BasicEnglishTokenizer",
    "GloveTwitterTokenizer",
    "SocialTokenizer",
    "TorchtextTokenizer",
    "WhitespaceTokenizer",
]
