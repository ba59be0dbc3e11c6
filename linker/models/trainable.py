"""The interface of models with weights that `linker train` trains."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from linker.data.types import Article, Post
from linker.data.vocabulary import EncodedText
from linker.models.model import Model


class TrainableModel(nn.Module, Model):
    """Base of bi-encoders: a network over token ids."""

    @property
    def output_dim(self) -> int:
        """Length of what the network returns for a text."""
        raise NotImplementedError

    @property
    def words(self) -> Sequence[str]:
        """Return the tokens by id; a run resumes only if they are the same."""
        raise NotImplementedError

    @property
    def description(self) -> str:
        """Return a short description of the tokenization for people, for example the number of words."""
        raise NotImplementedError

    def article_tokens(self, article: Article) -> EncodedText:
        """Return the token ids of an article as the network reads it."""
        raise NotImplementedError

    def post_tokens(self, post: Post) -> EncodedText:
        """Return the token ids of a post as the network reads it."""
        raise NotImplementedError

    def forward(self, texts: Sequence[EncodedText]) -> Tensor:
        """Return what the network computes of texts: float, texts × output_dim."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        """Return the device of the weights."""
        return next(self.parameters()).device
