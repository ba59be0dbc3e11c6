"""Model cards: `README.md` in every model folder, and the same with front matter on a Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linker.common.errors import DataError
from linker.common.files import read_json_object
from linker.data.types import LinkedPosts
from linker.models.files.archive import CARD, METRICS, read_config
from linker.version import __version__

if TYPE_CHECKING:
    from linker.models.siamese.siamese import SiameseModel

#: Metrics of tables and of the model index.
_METRICS = ("mRP", "mAP", "AUC", "MAP", "MRR", "nDCG@10", "P@1", "recall@100")
_SCORES = {
    "article_softmax": "the log-odds that the post discusses the article and not another one of the call, or none",
    "ensemble": "a combination of the scores of several models",
}
_WIDGET = {
    "source_sentence": "Otters return to the river after forty years",
    "sentences": [
        "saw an otter from the bridge this morning, first one of my life!",
        "they are back!! my grandfather would have loved this",
        "who else is watching the match tonight",
    ],
}


def model_card(
    config: dict[str, Any],
    metrics: dict[str, Any],
    train: LinkedPosts,
    dev: LinkedPosts | None,
    model: SiameseModel,
) -> str:
    """Return the model card: what the model is, what it was trained on, its figures, its limits.

    Args:
        config: the resolved training config.
        metrics: `best_epoch`, and the metrics on the `dev` set.
        train: the training set.
        dev: the dev set, if there is one.
        model: the trained model.

    Returns:
        Markdown.
    """
    encoder = config["model"].get("encoder", config["model"]["type"])
    teacher = config["loss"].get("teacher")
    training = _size(train)
    if teacher:
        training = f"the embeddings of the teacher {teacher} of {len(train.posts):,} texts, no links"
    return _rendered(
        config["model"],
        title=f"An article–post linker with a `{encoder['type'] if isinstance(encoder, dict) else encoder}` encoder",
        training=training,
        vocabulary=model.description,
        start=config.get("start"),
        dev=dev and _size(dev),
        best_epoch=metrics["best_epoch"],
        metrics=metrics["dev"],
    )


@dataclass(frozen=True)
class EvaluationResults:
    """Results of `linker evaluate --json`.

    Attributes:
        name: name of the model in them.
        models: metrics of all models, as fractions, the model's first.
        size: articles and posts, in words.
        scored: `together` or `one_at_a_time`.
    """

    name: str
    models: dict[str, dict[str, float]]
    size: str
    scored: str

    @classmethod
    def read(cls, path: Path, name: str) -> EvaluationResults:
        """Read results; the model is the one of this name, else the one that the others are compared with.

        Raises:
            DataError: if the file does not contain results of `linker evaluate`.
        """
        content = read_json_object(path, "give the file that `linker evaluate --json` wrote")
        try:
            models = {str(model): dict(metrics) for model, metrics in content["models"].items()}
            name = name if name in models else content["baseline"]
            size = f"{content['articles']:,} articles × {content['posts']:,} posts"
            return cls(name, {name: models[name], **models}, size, str(content["scored"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"{path}: not results of `linker evaluate`; give the file that its --json wrote"
            ) from error

    @property
    def columns(self) -> list[str]:
        """The metrics that a table shows."""
        return list(_table_metrics(self.models[self.name]))

    @property
    def rows(self) -> dict[str, list[float]]:
        """The figures of each model that has all of them."""
        columns = self.columns
        complete = {name: _table_metrics(metrics) for name, metrics in self.models.items()}
        return {
            name: [metrics[column] for column in columns]
            for name, metrics in complete.items()
            if metrics.keys() >= set(columns)
        }


def hub_card(
    folder: Path,
    name: str,
    license: str | None = None,
    languages: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    evaluation: EvaluationResults | None = None,
) -> str:
    """Return the model card for a Hugging Face hub: YAML front matter, the folder's card, and what it lacks.

    Front matter that `README.md` has stays; arguments replace it. Sections are added unless the card has a section of
    that title.

    Args:
        folder: a model folder.
        name: the model's name on the hub, `user/model`.
        license: identifier of the license; None: no license is guessed.
        languages: language codes; None: those of the config, if it names any.
        datasets: names of data sets on the hub.
        evaluation: figures of the model and of baselines.

    Returns:
        Markdown.
    """
    from huggingface_hub import ModelCard, ModelCardData

    config = read_config(folder)["model"]
    readme, measured = folder / CARD, folder / METRICS
    text = readme.read_text(encoding="utf-8") if readme.is_file() else f"# {name}\n"
    # Without front matter, huggingface_hub would warn.
    card = ModelCard(text if text.startswith("---") else f"---\nlibrary_name: linker\n---\n{text}")
    dev = (read_json_object(measured).get("dev") if measured.is_file() else None) or {}
    figures = {"dev set": dev} if isinstance(dev, dict) and dev else {}
    if evaluation is not None:
        figures[evaluation.size] = evaluation.models[evaluation.name]
    generated = _front_matter(name, config, figures, license, languages, datasets)
    replaced = {"license": license, "language": languages, "datasets": datasets, "model-index": figures}
    edited = {key: value for key, value in card.data.to_dict().items() if not replaced.get(key)}
    front = ModelCardData(**{**generated, **edited}, ignore_metadata_errors=True)
    body = card.text.strip().replace("--model FOLDER", f"--model {name}")
    body = body.replace("linker.load(folder)", f'linker.load("{name}")')
    sections = _rendered(config, name=name, languages=languages, evaluation=evaluation).split("\n## ")[1:]
    headings = re.findall("^## (.*)$", body, re.MULTILINE)
    added = [
        f"## {text.strip()}" for text in sections if text.partition("\n")[0] not in (*headings, "Limits")
    ]
    return f"---\n{front.to_yaml()}\n---\n\n" + "\n\n".join([body, *added]) + "\n"


def _front_matter(
    name: str,
    config: dict[str, Any],
    figures: dict[str, dict[str, Any]],
    license: str | None,
    languages: Sequence[str] | None,
    datasets: Sequence[str] | None,
) -> dict[str, Any]:
    from huggingface_hub import EvalResult, ModelCardData

    measured = [
        (data, metric, value) for data in figures for metric, value in _table_metrics(figures[data]).items()
    ]
    results = [
        EvalResult("text-ranking", "own", data, metric, round(value, 4), task_name="Ranking posts")
        for data, metric, value in measured
    ]
    networks = {part.get("path") for part in nested(config) if part.get("type") == "transformer"}
    bases = [path for path in networks if isinstance(path, str) and re.fullmatch(r"\w[\w.-]*/[\w.-]+", path)]
    data = ModelCardData(
        license=license,
        language=list(languages or _languages(config)) or None,
        library_name="linker",
        pipeline_tag="sentence-similarity",
        tags=["linker", "news", "social-media", "information-retrieval"],
        datasets=list(datasets) if datasets else None,
        base_model=sorted(bases) or None,
        metrics=sorted({metric for _, metric, _ in measured}) or None,
        model_name=name.partition("/")[2],
        eval_results=results or None,
    )
    return {**data.to_dict(), "widget": [_WIDGET]}  # the example on the model's page


def _rendered(
    config: dict[str, Any], title: str = "", languages: Sequence[str] | None = None, **values: Any
) -> str:
    from jinja2 import Template

    template = Template((files("linker.models.files") / "model_card_template.md").read_text(encoding="utf-8"))
    score = _SCORES.get(config["type"], "the cosine of two embeddings")
    known = languages or _languages(config)
    return template.render(title=title, score=score, version=__version__, languages=known, **values) + "\n"


def nested(config: Any) -> Iterator[dict[str, Any]]:
    """Yield the configs of a model and of everything in it."""
    if isinstance(config, dict):
        yield config
    for item in config.values() if isinstance(config, dict) else config if isinstance(config, list) else ():
        yield from nested(item)


def _table_metrics(metrics: dict[str, Any]) -> dict[str, float]:
    return {name: metrics[name] for name in _METRICS if isinstance(metrics.get(name), float)}


def _languages(config: Any) -> list[str]:
    """Return the languages that a config names, ISO 639-1 codes."""
    named = [part["languages"] for part in nested(config) if isinstance(part.get("languages"), list)]
    return sorted({language for languages in named for language in languages})


def _size(data: LinkedPosts) -> str:
    if not data.articles:
        return f"{len(data.posts):,} texts"
    return f"{len(data.articles):,} articles and {len(data.posts):,} posts"
