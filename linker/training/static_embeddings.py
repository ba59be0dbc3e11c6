"""Distillation of static word embeddings: the sum over a text's words points where the teacher's embedding does.

A mean of such embeddings is a static model, as in model2vec with the training on texts of its tokenlearn; encoders can
start from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import Optimizer as TorchOptimizer
from typing_extensions import override

from linker.common.errors import DataError
from linker.data.characters import plain
from linker.data.readers.texts import split_into_chunks
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.types import LinkedPosts, Post
from linker.data.vocabulary import EncodedText
from linker.data.word_vectors.formats import write_vectors
from linker.models.siamese.siamese import SiameseModel
from linker.modules.miners import AllPairsMiner
from linker.training.batch_sampler import TextSampler
from linker.training.distillation.loss import TEACHER_COSINE, DistillationLoss
from linker.training.distillation.teacher import CachedTeacher
from linker.training.optimizers import Linear, Optimizer
from linker.training.rng_state import seed_everything
from linker.training.trainer import Trainer
from linker.training.training_state import TrainingTask

BATCH = 1_024
#: A word's weight starts at a / (a + p) for a word that is the p-th part of all (Arora et al. 2017).
RARE = 1e-3


def distill_vectors(
    texts: Iterable[str],
    teacher: CachedTeacher,
    tokenizer: Tokenizer,
    out: Path,
    min_count: int = 2,
    epochs: int = 8,
    seed: int = 1,
) -> tuple[int, int, float]:
    """Train word vectors to reproduce a teacher's embeddings, and write them in word2vec's text format.

    The length of a vector is the word's weight, so that encoders that sum or average need no other weights.

    Args:
        texts: the texts; a repeated text counts once.
        teacher: the teacher.
        tokenizer: the tokenizer of the model that will use the vectors.
        out: the file to write.
        min_count: words that occur less often get no vector.
        epochs: number of passes over the texts.
        seed: decides the order of the texts.

    Returns:
        Number of words with a vector, number of texts, and the mean cosine of the texts' sums to the teacher.

    Raises:
        DataError: if no word occurs `min_count` times.
        KeyboardInterrupt: if a signal stops the run; nothing is written.
    """
    chunks = split_into_chunks(texts)
    tokens = [tokenizer.tokenize(plain(chunk)) for chunk in chunks]
    counts = Counter(chain.from_iterable(tokens))
    by_frequency = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    words = [word for word, count in by_frequency if count >= min_count]
    if not words:
        raise DataError(f"no word occurs {min_count} times in {len(chunks):,} texts; add texts")
    share = np.array([counts[word] for word in words]) / sum(counts[word] for word in words)
    seed_everything(seed)
    initial = torch.from_numpy(teacher.encode(words, "words"))
    model = StaticEmbeddings(tokenizer, words, initial, torch.from_numpy(RARE / (RARE + share)).float().log())
    posts = [Post(str(i), chunk) for i, chunk in enumerate(chunks)]
    data = LinkedPosts([], [post for post in posts if len(model.post_tokens(post).ids)])
    loss = DistillationLoss("")
    task = TrainingTask(model, AllPairsMiner(), loss, data, seed=seed)
    loss.prepare(model, data.posts, [], teacher)
    trainer = Trainer(
        _GroupedAdam(model), Linear(warmup=0), TextSampler(BATCH), epochs, None, TEACHER_COSINE, None
    )
    if trainer.train(task, out.parent).interrupted:
        raise KeyboardInterrupt
    cosine = float((torch.from_numpy(model.post_vectors(data.posts)) * loss.targets).sum(1).mean())
    write_vectors(out, words, model.word_vectors())
    return len(words), len(chunks), cosine


class StaticEmbeddings(SiameseModel):
    """Word embeddings: the teacher's of the single words, plus an offset, weighted and projected; texts are sums.

    Args:
        tokenizer: from text to tokens.
        vocabulary: the words.
        initial: float, words × dim, the teacher's embedding of each word alone.
        log_weights: float, words.
    """

    def __init__(
        self, tokenizer: Tokenizer, vocabulary: Sequence[str], initial: Tensor, log_weights: Tensor
    ) -> None:
        super().__init__(10**6, 10**6, "cosine")
        self.tokenizer, self._vocabulary = tokenizer, list(vocabulary)
        self._ids = {word: i for i, word in enumerate(vocabulary)}
        centered = initial - initial.mean(0)
        self.initial = centered / centered.norm(dim=1).mean().clamp_min(1e-6)
        self.offset = nn.Embedding.from_pretrained(torch.zeros_like(initial), freeze=False)
        self.log_weights = nn.Embedding.from_pretrained(log_weights[:, None], freeze=False)
        # Words that the texts say little about move with the others.
        self.projection = nn.Linear(initial.shape[1], initial.shape[1], bias=False)
        nn.init.eye_(self.projection.weight)

    @property
    @override
    def output_dim(self) -> int:
        return self.initial.shape[1]

    @property
    @override
    def words(self) -> Sequence[str]:
        return self._vocabulary

    @override
    def post_tokens(self, post: Post) -> EncodedText:
        tokens = self.tokenizer.tokenize(plain(post.text))
        return EncodedText(np.array([self._ids[t] for t in tokens if t in self._ids], dtype=np.int64), ())

    @override
    def forward(self, texts: Sequence[EncodedText]) -> Tensor:
        return self._vectors(self._collate(texts), None)

    def _collate(self, texts: Sequence[EncodedText]) -> tuple[Tensor, Tensor, Tensor]:
        """Return the distinct words, each token's row among them, and where each text begins."""
        lengths = torch.tensor([len(text.ids) for text in texts])
        tokens = torch.from_numpy(np.concatenate([text.ids for text in texts]))
        words, tokens = tokens.unique(return_inverse=True)
        return words, tokens, lengths.cumsum(0) - lengths

    def _vectors(self, collated: tuple[Tensor, Tensor, Tensor], budget: int | None) -> Tensor:
        words, tokens, begins = collated
        sums = F.embedding_bag(tokens, self._weighted(words), begins, mode="sum")  # (texts, dim)
        return F.normalize(self.projection(sums), dim=1)

    @torch.no_grad()
    def word_vectors(self) -> np.ndarray:
        """Return the word embeddings by token id: float32, words × dim."""
        vectors: np.ndarray = self.projection(self._weighted(torch.arange(len(self.words)))).numpy()
        return vectors

    def _weighted(self, words: Tensor) -> Tensor:
        weighted: Tensor = (self.initial[words] + self.offset(words)) * self.log_weights(words).exp()
        return weighted


class _GroupedAdam(Optimizer):
    """Adam with a learning rate for each part of the embeddings."""

    def __init__(self, model: StaticEmbeddings) -> None:
        self._model = model

    @override
    def build(self, parameters: Iterable[nn.Parameter]) -> TorchOptimizer:
        rates = {self._model.projection: 1e-3, self._model.offset: 2e-3, self._model.log_weights: 2e-2}
        return torch.optim.Adam([{"params": part.parameters(), "lr": rate} for part, rate in rates.items()])
