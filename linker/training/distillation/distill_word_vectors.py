"""Word vectors whose weighted sums say what a sentence transformer says of whole texts.

A slow teacher reads every text once; word vectors are then fitted so that the sum over a text's words points where the
teacher's vector of the text points. A mean of such vectors is a static model (as model2vec's, with training on texts as
in its tokenlearn); here they are what encoders begin with.
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

from linker.common.console import progress_bar, stderr
from linker.common.errors import DataError
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.word_vectors.train import write_vectors
from linker.training.distillation.losses import distillation_loss
from linker.training.distillation.teacher import CachedTeacher, Encode, split_into_chunks

BATCH = 1_024
# Weights begin at share / (share + p) for a word that is the p-th part of all (Arora et al. 2017).
RARE = 1e-3


def distil_vectors(
    texts: Iterable[str],
    encode: Encode,
    teacher: str,
    tokenizer: Tokenizer,
    out: Path,
    seen: Path,
    min_count: int = 2,
    epochs: int = 8,
    seed: int = 1,
) -> tuple[int, int, float]:
    """Fit word vectors to a teacher and write them in word2vec's text format.

    A word's vector is as long as the word is weighty, so that encoders which sum or average need no weights besides.

    Args:
        texts: the texts; one that comes again counts once.
        encode: the teacher: float32, texts × dim, of unit length.
        teacher: tells this teacher from others.
        tokenizer: the one that the model will have.
        out: the file to write.
        seen: a folder for what the teacher said; what is there already is not asked again.
        min_count: words that come less often get no vector.
        epochs: times that the texts are gone through in the fitting.
        seed: of the order of the texts.

    Returns:
        Words with a vector, texts read, and the mean cosine of the texts' sums to the teacher's vectors.

    Raises:
        DataError: no word comes `min_count` times.
    """
    pieces = split_into_chunks(texts)
    tokens = [tokenizer.tokenize(piece) for piece in pieces]
    counts = Counter(chain.from_iterable(tokens))
    words = [
        word
        for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if count >= min_count
    ]
    if not words:
        raise DataError(f"no word comes {min_count} times in {len(pieces):,} texts; add texts")
    row = {word: i for i, word in enumerate(words)}
    ids = [np.array([row[token] for token in text if token in row], dtype=np.int64) for text in tokens]
    said = CachedTeacher(seen, teacher, encode)
    start, targets = said.about(words, "words"), said.about(pieces, "texts")
    kept = [i for i, text in enumerate(ids) if len(text)]
    share = np.array([counts[word] for word in words]) / sum(counts[word] for word in words)
    torch.manual_seed(seed)
    table = StaticTable(torch.from_numpy(start), torch.log(torch.from_numpy(RARE / (RARE + share)).float()))
    cosine = _fit(table, [ids[i] for i in kept], torch.from_numpy(targets[kept]), epochs, seed)
    with torch.no_grad():
        write_vectors(out, words, table.vectors(torch.arange(len(words))).numpy())
    return len(words), len(pieces), cosine


class StaticTable(nn.Module):
    """Word vectors: the teacher's own of the single words, moved and turned, and a weight for each.

    Args:
        start: float, words × dim: what the teacher says of each word alone.
        log_weights: float, words.
    """

    def __init__(self, start: Tensor, log_weights: Tensor) -> None:
        super().__init__()
        centred = start - start.mean(0)
        self.start = centred / centred.norm(dim=1).mean().clamp_min(1e-6)
        self.moved = nn.Embedding.from_pretrained(torch.zeros_like(start), freeze=False)
        self.log_weights = nn.Embedding.from_pretrained(log_weights[:, None], freeze=False)
        # Words of which the texts say little go where the others have gone.
        self.turn = nn.Linear(start.shape[1], start.shape[1], bias=False)
        nn.init.eye_(self.turn.weight)

    def vectors(self, words: Tensor) -> Tensor:
        """float, words × dim, by their ids."""
        turned: Tensor = self.turn(self._weighted(words))
        return turned

    def forward(self, texts: Sequence[np.ndarray]) -> Tensor:
        """Unit vectors of texts given as word ids, at least one each: float, texts × dim."""
        lengths = torch.tensor([len(text) for text in texts])
        words, places = torch.from_numpy(np.concatenate(texts)).unique(return_inverse=True)
        sums = F.embedding_bag(places, self._weighted(words), lengths.cumsum(0) - lengths, mode="sum")
        return F.normalize(self.turn(sums), dim=1)

    def _weighted(self, words: Tensor) -> Tensor:
        weighted: Tensor = (self.start[words] + self.moved(words)) * self.log_weights(words).exp()
        return weighted


def _fit(table: StaticTable, texts: Sequence[np.ndarray], targets: Tensor, epochs: int, seed: int) -> float:
    """Train the table; gives the mean cosine to the targets over the last epoch."""
    optimizer = torch.optim.Adam(
        [
            {"params": table.turn.parameters(), "lr": 1e-3},
            {"params": table.moved.parameters(), "lr": 2e-3},
            {"params": table.log_weights.parameters(), "lr": 2e-2},
        ]
    )
    size = min(BATCH, len(texts))
    steps = epochs * (len(texts) // size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.02, 1 - step / steps))
    order = np.random.default_rng(seed)
    cosine = 0.0
    with progress_bar() as progress:
        bar = progress.add_task("fitting word vectors", total=steps)
        for _ in range(epochs):
            cosines = []
            shuffled = order.permutation(len(texts))
            for begin in range(0, len(texts) - size + 1, size):
                part = shuffled[begin : begin + size]
                wanted = F.normalize(targets[torch.from_numpy(part)], dim=1)
                given = table([texts[i] for i in part])
                loss, cosine = distillation_loss(given, wanted)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                cosines.append(cosine)
                progress.advance(bar)
            cosine = float(np.mean(cosines))
            if not progress.disable:
                stderr.print(f"cosine to the teacher {cosine:.3f}", highlight=False)
    return cosine
