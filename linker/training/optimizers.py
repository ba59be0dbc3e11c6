"""Optimizers, learning-rate schedules, and rules that follow the training loss."""

from collections.abc import Iterable, Sequence

import torch
from torch import nn
from torch.optim import Optimizer as TorchOptimizer
from torch.optim.lr_scheduler import LambdaLR
from typing_extensions import override

from linker.common.checks import above, at_least, between
from linker.config import Registrable

# One pass over weights, gradients and moments instead of a dozen: four times as fast on a CPU, in torch from
# 2.4 on.
FUSED = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 4)


class Optimizer(Registrable):
    """Base class of optimizer settings, from which a torch optimizer is built when there is a model."""

    default_component = "adam"

    def build(self, parameters: Iterable[nn.Parameter]) -> TorchOptimizer:
        """Return the torch optimizer of `parameters`."""
        raise NotImplementedError


@Optimizer.register("adam")
class Adam(Optimizer):
    """Adam (Kingma & Ba 2015).

    Paper: Kingma and Ba 2015, https://arxiv.org/abs/1412.6980

    Args:
        lr: learning rate; the paper's code uses 1e-4.
    """

    def __init__(self, lr: float = 1e-4) -> None:
        above(0, lr=lr)
        self.lr = lr

    @override
    def build(self, parameters: Iterable[nn.Parameter]) -> TorchOptimizer:
        return torch.optim.Adam(parameters, lr=self.lr, fused=FUSED)


@Optimizer.register("adamw")
class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019).

    Paper: Loshchilov and Hutter 2019, https://arxiv.org/abs/1711.05101

    Args:
        lr: learning rate.
        weight_decay: share of each weight subtracted per step, times the learning rate.
    """

    def __init__(self, lr: float = 1e-4, weight_decay: float = 0.01) -> None:
        above(0, lr=lr)
        at_least(0, weight_decay=weight_decay)
        self.lr, self.weight_decay = lr, weight_decay

    @override
    def build(self, parameters: Iterable[nn.Parameter]) -> TorchOptimizer:
        return torch.optim.AdamW(parameters, lr=self.lr, weight_decay=self.weight_decay, fused=FUSED)


@Optimizer.register("sgd")
class SGD(Optimizer):
    """Stochastic gradient descent without momentum.

    Args:
        lr: learning rate.
        l2: λ of a term λ Σ w² added to the loss; torch's `weight_decay` is twice that.
    """

    def __init__(self, lr: float = 0.01, l2: float = 0.0) -> None:
        above(0, lr=lr)
        at_least(0, l2=l2)
        self.lr, self.l2 = lr, l2

    @override
    def build(self, parameters: Iterable[nn.Parameter]) -> TorchOptimizer:
        return torch.optim.SGD(parameters, lr=self.lr, weight_decay=2 * self.l2)


class Schedule(Registrable):
    """Base class of learning-rate schedules over the steps of a run."""

    default_component = "constant"

    def factor(self, progress: float) -> float:
        """Return the factor of the learning rate at a point of the run.

        Args:
            progress: share of the run that is done, 0 to 1.
        """
        raise NotImplementedError

    def build(self, optimizer: TorchOptimizer, steps: int) -> LambdaLR:
        """Return the torch scheduler of `optimizer` for a run of `steps` steps."""
        return LambdaLR(optimizer, lambda step: self.factor(min(step, steps) / max(steps, 1)))


@Schedule.register("constant")
class Constant(Schedule):
    """Constant learning rate."""

    @override
    def factor(self, progress: float) -> float:
        """See `Schedule.factor`."""
        return 1.0


@Schedule.register("linear")
class Linear(Schedule):
    """Linear warm-up from 0, then linear decay to 0.

    Args:
        warmup: share of the run for the warm-up.
    """

    def __init__(self, warmup: float = 0.1) -> None:
        between(0, 1, warmup=warmup)
        self.warmup = warmup

    @override
    def factor(self, progress: float) -> float:
        """See `Schedule.factor`."""
        if progress < self.warmup:
            return max(progress / self.warmup, 1e-3)  # with 0, the first step would learn nothing
        return (1 - progress) / max(1 - self.warmup, 1e-9)


def scale_learning_rate(scheduler: LambdaLR, factor: float) -> bool:
    """Multiply the scheduled learning rate by `factor` from now on; return whether that changes it."""
    before, groups = scheduler.base_lrs, scheduler.optimizer.param_groups
    scheduler.base_lrs = [group["initial_lr"] * factor for group in groups]
    for group, rate, scale in zip(groups, scheduler.base_lrs, scheduler.lr_lambdas, strict=True):
        group["lr"] = rate * scale(scheduler.last_epoch)
    return scheduler.base_lrs != before


class LossRule(Registrable):
    """Base class of rules that scale the learning rate and end a run by its mean training losses.

    A rule keeps no state, so that a resumed run follows it like an uninterrupted one.
    """

    default_component = "drop_then_stop"

    def after(self, losses: Sequence[float]) -> tuple[float, bool]:
        """Return what follows from the epochs so far.

        Args:
            losses: the mean training loss of each epoch, in order.

        Returns:
            The factor of the scheduled learning rate in the next epoch, and whether training stops instead.
        """
        raise NotImplementedError
