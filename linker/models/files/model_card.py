"""Model cards: `README.md` in every model folder, and the same with front matter on a Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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


def hub_card(
    folder: Path,
    name: str,
    license: str | None = None,
    languages: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    evaluation: Path | None = None,
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
        evaluation: results of `linker evaluate --json` of the model and of baselines.

    Returns:
        Markdown.

    Raises:
        DataError: if `evaluation` does not contain results of `linker evaluate`.
    """
    from huggingface_hub import ModelCard, ModelCardData

    config = read_config(folder)["model"]
    readme, measured = folder / CARD, folder / METRICS
    text = readme.read_text(encoding="utf-8") if readme.is_file() else f"# {name}\n"
    # Without front matter, huggingface_hub would warn.
    card = ModelCard(text if text.startswith("---") else f"---\nlibrary_name: linker\n---\n{text}")
    dev = (read_json_object(measured).get("dev") if measured.is_file() else None) or {}
    figures = {"dev set": _table_metrics(dev)} if isinstance(dev, dict) and dev else {}
    table = None if evaluation is None else _evaluation_table(evaluation, folder.name)
    if table is not None:
        figures[table["size"]] = next(iter(table["models"].values()))
    generated = _front_matter(name, config, figures, license, languages, datasets)
    replaced = {"license": license, "language": languages, "datasets": datasets, "model-index": figures}
    edited = {key: value for key, value in card.data.to_dict().items() if not replaced.get(key)}
    front = ModelCardData(**{**generated, **edited}, ignore_metadata_errors=True)
    body = card.text.strip().replace("--model FOLDER", f"--model {name}")
    body = body.replace("linker.load(folder)", f'linker.load("{name}")')
    sections = _rendered(config, name=name, languages=languages, evaluation=table).split("\n## ")[1:]
    present = {*re.findall("^## (.*)$", body, re.MULTILINE), "Limits"}
    added = [f"## {section.strip()}" for section in sections if section.partition("\n")[0] not in present]
    return f"---\n{front.to_yaml()}\n---\n\n" + "\n\n".join([body, *added]) + "\n"


def _evaluation_table(path: Path, name: str) -> dict[str, Any]:
    """Read results of `linker evaluate --json` for the card.

    Args:
        path: the file.
        name: of the model; if it is not in the results, the one that the others are compared with.

    Returns:
        `models`: metrics as fractions by model, the card's first, the others only if they have all of its metrics;
        `size`: articles and posts, in words; `scored`: `together` or `one_at_a_time`.
    """
    content = read_json_object(path, "give the file that `linker evaluate --json` wrote")
    try:
        name = name if name in content["models"] else content["baseline"]
        columns = _table_metrics(content["models"][name])
        others = {model: _table_metrics(metrics) for model, metrics in content["models"].items()}
        complete = {model: metrics for model, metrics in others.items() if metrics.keys() >= columns.keys()}
        rows = {model: {key: metrics[key] for key in columns} for model, metrics in complete.items()}
        size = f"{content['articles']:,} articles × {content['posts']:,} posts"
        return {"models": {name: columns, **rows}, "size": size, "scored": str(content["scored"])}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"{path}: not results of `linker evaluate`; give the file that its --json wrote"
        ) from error


def _front_matter(
    name: str,
    config: dict[str, Any],
    figures: dict[str, dict[str, float]],
    license: str | None,
    languages: Sequence[str] | None,
    datasets: Sequence[str] | None,
) -> dict[str, Any]:
    from huggingface_hub import EvalResult, ModelCardData

    results = [
        EvalResult("text-ranking", "own", data, metric, round(value, 4), task_name="Ranking posts")
        for data, metrics in figures.items()
        for metric, value in metrics.items()
    ]
    parts = [part for part in walk(config) if isinstance(part, dict)]
    networks = {str(part.get("path")) for part in parts if part.get("type") == "transformer"}
    data = ModelCardData(
        license=license,
        language=list(languages or _languages(config)) or None,
        library_name="linker",
        pipeline_tag="sentence-similarity",
        tags=["linker", "news", "social-media", "information-retrieval"],
        datasets=list(datasets) if datasets else None,
        base_model=sorted(path for path in networks if re.fullmatch(r"\w[\w.-]*/[\w.-]+", path)) or None,
        metrics=sorted({result.metric_type for result in results}) or None,
        model_name=name.partition("/")[2],
        eval_results=results or None,
    )
    return {**data.to_dict(), "widget": [_WIDGET]}  # the example on the model's page


def _rendered(
    config: dict[str, Any], title: str = "", languages: Sequence[str] | None = None, **values: Any
) -> str:
    from jinja2 import Template

    text = (files("linker.models.files") / "model_card_template.md").read_text(encoding="utf-8")
    score = _SCORES.get(config["type"], "the cosine of two embeddings")
    languages = languages or _languages(config)
    return (
        Template(text).render(title=title, score=score, version=__version__, languages=languages, **values)
        + "\n"
    )


def walk(config: Any) -> Iterator[Any]:
    """Yield a config and everything in it: objects, lists and values."""
    yield config
    for item in config.values() if isinstance(config, dict) else config if isinstance(config, list) else ():
        yield from walk(item)


def _table_metrics(metrics: dict[str, Any]) -> dict[str, float]:
    return {name: metrics[name] for name in _METRICS if isinstance(metrics.get(name), float)}


def _languages(config: Any) -> list[str]:
    """Return the languages that a config names, ISO 639-1 codes."""
    named = (part.get("languages") for part in walk(config) if isinstance(part, dict))
    return sorted({language for languages in named if isinstance(languages, list) for language in languages})


def _size(data: LinkedPosts) -> str:
    if not data.articles:
        return f"{len(data.posts):,} texts"
    return f"{len(data.articles):,} articles and {len(data.posts):,} posts"
