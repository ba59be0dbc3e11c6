"""The tokenizers."""

from linker.data.tokenizers.social import SocialTokenizer

__all__ = ["SocialTokenizer"]
