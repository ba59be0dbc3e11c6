"""The last lines of a run: what it reached, beside models that it did not train, and what to do next."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linker.common.console import info
from linker.config import EXPERIMENT, build, load_config, resolve
from linker.config.jsonnet import diff_configs
from linker.config.recipes import find_config
from linker.data.splitters.splitter import Splits
from linker.evaluation.evaluate import evaluate
from linker.models.files.resolve import resolve_model
from linker.models.model import Model
from linker.models.pretrained import BEST

#: With fewer articles, differences are chance; `best` scores this many posts in a minute.
_LEAST_ARTICLES, _MOST_POSTS = 15, 20_000
_FINETUNE = "configs/minilm/finetune.jsonnet"


def print_summary(config: Mapping[str, Any], splits: Splits, reached: Mapping[str, float], out: Path) -> None:
    """Print the dev metrics of a run, beside those of untrained word vectors and `best`, and a command for more.

    Args:
        config: the resolved config of the run.
        splits: what the model was trained and measured on.
        reached: its dev metrics, fractions; empty without a dev set.
        out: its folder.
    """
    dev, folder, rank = splits.dev, shlex.quote(str(out)), "next: linker rank --article FILE --posts FILE"
    if dev is None or "MAP" not in reached:
        return
    if len(dev.articles) < _LEAST_ARTICLES or len(dev.posts) > _MOST_POSTS:
        return info(f"next: linker evaluate --model {folder} best --articles FILE --posts FILE")

    def show(name: str, metrics: Mapping[str, float]) -> float:
        info(f"  {name:{max(22, len(folder))}}  pair AP {metrics['pair AP']:6.2%}  MAP {metrics['MAP']:6.2%}")
        return metrics["MAP"]

    def score(model: Model) -> dict[str, float]:
        return evaluate(model.score(dev.articles, dev.posts), dev)

    info(f"dev: {len(dev.articles):,} articles × {len(dev.posts):,} posts, all articles scored together")
    show(folder, reached)
    model = config["model"]
    while "model" in model:
        model = model["model"]
    if model.get("vectors"):
        untrained = build(Model, {**model, "encoder": "mean"})
        untrained.prepare(splits.train)
        show("untrained word vectors", score(untrained))
    if reached["MAP"] > show(BEST, score(resolve_model(BEST).load())):
        return info(f"{rank} --model {folder}")
    if config["start"] == BEST or config["data"]["reader"]["type"] != "articles_and_posts":
        return info(f"best ranks these posts better; {rank}")
    command = f"  linker train {_FINETUNE}"
    sample = resolve(EXPERIMENT, load_config(find_config(_FINETUNE)))["data"]
    for path, _, value in diff_configs(sample, config["data"], "data"):
        command += f" -o {shlex.quote(f'{path}={json.dumps(value, ensure_ascii=False)}')}"
    info(f"best ranks these posts better; to fine-tune it on the same links:\n{command}")
