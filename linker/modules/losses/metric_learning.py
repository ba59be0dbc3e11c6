"""Losses of pytorch-metric-learning over mined pairs."""

from pytorch_metric_learning.losses import BaseMetricLossFunction
from pytorch_metric_learning.losses import MultiSimilarityLoss as LibraryMultiSimilarityLoss
from pytorch_metric_learning.losses import NTXentLoss as LibraryNTXentLoss
from torch import Tensor
from typing_extensions import override

from linker.common.checks import above
from linker.modules.losses.loss import Loss
from linker.modules.miners import MinedPairs


class _LibraryLoss(Loss):
    """A loss of pytorch-metric-learning with articles as anchors and posts as references."""

    def __init__(self, loss: BaseMetricLossFunction) -> None:
        super().__init__()
        self.loss = loss

    @override
    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        positives, negatives = pairs.positives.nonzero(as_tuple=True), pairs.negatives.nonzero(as_tuple=True)
        value = self.loss(articles, indices_tuple=(*positives, *negatives), ref_emb=posts)
        # Without pairs the library returns a constant: this keeps the graph, so that the gradient is 0 and not missing.
        return value + 0 * (articles.sum() + posts.sum())


@Loss.register("multi_similarity")
class MultiSimilarityLoss(_LibraryLoss):
    """Multi-similarity loss: weights each pair by its similarity relative to the others (Wang et al. 2019, eq. 9).

    Paper: Wang et al. 2019, https://arxiv.org/abs/1904.06627

    Args:
        alpha: sharpness of the weights of positives, > 0.
        beta: sharpness of the weights of negatives, > 0.
        base: similarity at which a pair has medium weight (λ in the paper).
    """

    def __init__(self, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5) -> None:
        above(0, alpha=alpha, beta=beta)
        super().__init__(LibraryMultiSimilarityLoss(alpha=alpha, beta=beta, base=base))


@Loss.register("nt_xent")
class NTXentLoss(_LibraryLoss):
    """Softmax of each positive against all negatives of its article (InfoNCE; van den Oord et al. 2018).

    Paper: van den Oord et al. 2018, https://arxiv.org/abs/1807.03748

    Args:
        temperature: divisor of the cosines, > 0; smaller is sharper.
    """

    def __init__(self, temperature: float = 0.07) -> None:
        above(0, temperature=temperature)
        super().__init__(LibraryNTXentLoss(temperature=temperature))
