"""Model cards: `README.md` in every model folder, and the same with front matter on a Hugging Face hub."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linker.common.errors import DataError
from linker.common.files import read_json_object
from linker.data.types import LinkedPosts
from linker.models.archive import CARD, METRICS, read_config
from linker.version import __version__

if TYPE_CHECKING:
    from linker.models.siamese.siamese import SiameseModel

_LOG_ODDS = (
    "the log-odds that the post discusses the article and not another one of the call, or none of them"
)
_COMBINATION = "a combination of the scores of several models"
_SCORE = {
    "article_softmax": _LOG_ODDS,
    "ensemble": _COMBINATION,
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
    kind = config["model"]["type"]
    encoder = config["model"].get("encoder", kind)
    name = encoder["type"] if isinstance(encoder, dict) else encoder
    data = f"{len(train.articles):,} articles and {len(train.posts):,} posts"
    if teacher := config["loss"].get("teacher"):
        data = f"the embeddings of the teacher {teacher} of {len(train.posts):,} texts, no links"
    lines = [
        f"# An article–post linker with a `{name}` encoder",
        "",
        "Given a news article, it scores social-media posts: higher means more likely to discuss the article. A raw",
        f"score is {_SCORE.get(kind, 'the cosine of two embeddings')}; linker shows it as a number",
        "from 0 to 100. Made with linker (`article-linker`).",
        "",
        *_use(),
        "",
        "## Training data",
        "",
        f"Trained on {data};",
        f"`config.json` has the readers and files under `data`. Vocabulary: {model.description}.",
        *([f"Training started from the weights of {config['start']}."] if config.get("start") else []),
        "",
        "## Figures",
        "",
        *_figures(metrics, dev),
        "",
        *_languages(_languages_of(config["model"])),
        "",
        "## Limits",
        "",
        "Scores are not probabilities, and a threshold that suits one set of posts may not suit another. Unknown words",
        "get vectors made from their spelling. Expect lower quality on other languages, topics and times than those of",
        "the training data, and check a sample by hand.",
        "",
        *_citation(),
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Evaluation:
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
    def read(cls, path: Path, name: str) -> Evaluation:
        """Read results; the model is the one of this name, else the one that the others are compared with.

        Raises:
            DataError: if the file does not contain results of `linker evaluate`.
        """
        content = read_json_object(path, "give the file that `linker evaluate --json` wrote")
        try:
            models = {str(one): dict(metrics) for one, metrics in content["models"].items()}
            ours = name if name in models else content["baseline"]
            models = {ours: models[ours], **models}
            size = f"{content['articles']:,} articles × {content['posts']:,} posts"
            return cls(ours, models, size, str(content["scored"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"{path}: not results of `linker evaluate`; give the file that its --json wrote"
            ) from error


def hub_card(
    folder: Path,
    name: str,
    license: str | None = None,
    languages: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    evaluation: Evaluation | None = None,
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
    from huggingface_hub import EvalResult, ModelCard, ModelCardData

    config = read_config(folder)
    own = folder / CARD
    text = own.read_text(encoding="utf-8") if own.is_file() else f"# {name}\n"
    # Without front matter, huggingface_hub would warn.
    card = ModelCard(text if text.startswith("---") else f"---\nlibrary_name: linker\n---\n{text}")
    known = card.data.to_dict()
    spoken = list(languages or _languages_of(config["model"]))
    file = folder / METRICS
    dev = (read_json_object(file).get("dev") if file.is_file() else None) or {}
    title = name.partition("/")[2]
    figures = {"dev set": dev} if isinstance(dev, dict) and dev else {}
    if evaluation is not None:
        figures[evaluation.size] = evaluation.models[evaluation.name]
    ours = ModelCardData(
        license=license,
        language=spoken or None,
        library_name="linker",
        pipeline_tag="sentence-similarity",
        tags=["linker", "news", "social-media", "information-retrieval"],
        datasets=list(datasets) if datasets else None,
        base_model=_base_models(config["model"]) or None,
        metrics=sorted({metric for values in figures.values() for metric in _shown(values)}) or None,
        model_name=title,
        eval_results=[
            EvalResult("text-ranking", "own", data, metric, round(value, 4), task_name="Ranking posts")
            for data, values in figures.items()
            for metric, value in _shown(values).items()
        ]
        or None,
    ).to_dict()
    ours["widget"] = [_WIDGET]  # the example on the model's page
    named = {"license": license, "language": languages, "datasets": datasets, "model-index": figures}
    kept = {key: value for key, value in known.items() if not named.get(key)}
    card.data = ModelCardData(**{**ours, **kept}, ignore_metadata_errors=True)
    body = card.text.strip().replace("--model FOLDER", f"--model {name}")
    body = body.replace("linker.load(folder)", f'linker.load("{name}")')
    sections = [_use(name), _precision(folder, config["model"]), _languages(spoken), _citation()]
    if evaluation is not None:
        sections.insert(1, _comparison(evaluation))
    headings = set(re.findall("^## .*$", body, re.MULTILINE))
    added = ["\n".join(lines) for lines in sections if lines[0] not in headings]
    return f"---\n{card.data.to_yaml()}\n---\n\n" + "\n\n".join([body, *added]) + "\n"


_WIDGET = {
    "source_sentence": "Otters return to the river after forty years",
    "sentences": [
        "saw an otter from the bridge this morning, first one of my life!",
        "they are back!! my grandfather would have loved this",
        "who else is watching the match tonight",
    ],
}
#: Metrics of tables and of the model index.
_METRICS = ("mRP", "mAP", "AUC", "MAP", "MRR", "nDCG@10", "P@1", "recall@100")


def _shown(metrics: dict[str, Any]) -> dict[str, float]:
    """Return the metrics that cards show."""
    return {name: metrics[name] for name in _METRICS if isinstance(metrics.get(name), float)}


def _parts(config: Any) -> Iterator[dict[str, Any]]:
    """Yield the configs of a model and of everything in it."""
    if isinstance(config, dict):
        yield config
    for item in config.values() if isinstance(config, dict) else config if isinstance(config, list) else ():
        yield from _parts(item)


def _base_models(config: Any) -> list[str]:
    """Return the names on the hub of the networks that training started from."""
    paths = (part.get("path") for part in _parts(config) if part.get("type") == "transformer")
    return sorted(
        {path for path in paths if isinstance(path, str) and re.fullmatch(r"\w[\w.-]*/[\w.-]+", path)}
    )


def _languages_of(config: Any) -> list[str]:
    """Return the languages that a config names, ISO 639-1 codes."""
    named = [part["languages"] for part in _parts(config) if isinstance(part.get("languages"), list)]
    return sorted({language for languages in named for language in languages})


def _use(name: str = "FOLDER") -> list[str]:
    loaded = "folder" if name == "FOLDER" else f'"{name}"'
    return [
        "## Use",
        "",
        "    pip install article-linker",
        f"    linker rank --article ARTICLE --posts POSTS --model {name}",
        "",
        f"or in Python `linker.load({loaded}).rank(article, posts)`.",
    ]


def _comparison(evaluation: Evaluation) -> list[str]:
    shown = list(_shown(evaluation.models[evaluation.name]))
    scored = "all articles together" if evaluation.scored == "together" else "each article by itself"
    rows = [
        f"| {name} | {' | '.join(f'{100 * metrics[key]:.1f}' for key in shown)} |"
        for name, metrics in evaluation.models.items()
        if all(isinstance(metrics.get(key), float) for key in shown)
    ]
    return [
        "## Evaluation",
        "",
        f"{evaluation.size}, {scored}, by `linker evaluate` of linker {__version__}, in %:",
        "",
        f"| model | {' | '.join(shown)} |",
        f"|---|{'---|' * len(shown)}",
        *rows,
    ]


def _precision(folder: Path, config: Any) -> list[str]:
    """Return how the numbers of the weights are stored, and what the config names for inference."""
    from safetensors import safe_open

    stored = Counter[str]()
    for path in folder.rglob("*.safetensors"):
        with safe_open(path, "numpy") as file:
            for key in file.keys():  # noqa: SIM118
                tensor = file.get_slice(key)
                count = 1
                for length in tensor.get_shape():
                    count *= length
                stored[tensor.get_dtype()] += count
    lines = [
        "## Precision",
        "",
        f"Weights are stored as {', '.join(f'{kind} ({count:,} numbers)' for kind, count in stored.most_common())}."
        if stored
        else "The model has no weights.",
    ]
    if any(part.get("precision") == "int8" for part in _parts(config)):
        lines += [
            "Transformers score in int8 by ONNX Runtime. The loss is the difference from the folder that was exported:",
            "`linker evaluate` with both folders measures it.",
        ]
    return lines


def _languages(languages: Sequence[str]) -> list[str]:
    known = ", ".join(f"`{language}`" for language in languages)
    return [
        "## Languages",
        "",
        f"{known}. Expect less in others." if known else "Those of the training data; the config names none.",
    ]


def _citation() -> list[str]:
    return [
        "## Citation",
        "",
        "    @software{linker,",
        "      title = {linker},",
        "      author = {{The linker founders}},",
        f"      version = {{{__version__}}},",
        "      year = {2026}",
        "    }",
    ]


def _figures(metrics: dict[str, Any], dev: LinkedPosts | None) -> list[str]:
    if dev is None:
        return ["Trained without a dev set: nothing was measured."]
    rows = [f"| {name} | {100 * value:.2f} |" for name, value in metrics["dev"].items()]
    size = f"{len(dev.articles):,} articles × {len(dev.posts):,} posts"
    return [
        f"On the dev set, {size if dev.articles else f'{len(dev.posts):,} texts'}, after epoch",
        f"{metrics['best_epoch']}, which was chosen by them (so they are optimistic):",
        "",
        "| metric | % |",
        "|---|---|",
        *rows,
    ]
