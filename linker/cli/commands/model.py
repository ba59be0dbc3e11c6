"""`linker model`: export a trained model to ONNX, or upload it to a hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.command import App
from linker.cli.status import say
from linker.common.errors import LinkerError

app = App(help="Export a trained model to ONNX, or upload it to a hub.", no_args_is_help=True)


@app.command()
def export(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a trained model.")],
    posts: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Posts whose activations set the ranges of int8 in a transformer.",
            show_default="the sample",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder to write.", show_default="MODEL-onnx")
    ] = None,
) -> None:
    """Export a trained transformer to ONNX in int8: it scores without torch, several times faster."""
    from linker.models.files.resolve import resolve_model

    folder = resolve_model(model).folder
    out = out or Path(f"{model}-onnx")
    if out.exists():
        raise LinkerError(f"{out}: exists; give another --out, or delete it first")
    texts: list[str] = []
    if posts is not None:
        from linker.data.io.records import read_posts

        texts = [post.text for post in read_posts(posts)]

    from linker.models.onnx.export import export_model

    export_model(folder, out, texts)
    print(out)


@app.command()
def push(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of a trained model.")],
    name: Annotated[str, typer.Argument(metavar="USER/MODEL", help="Name of the model on the hub.")],
    license_: Annotated[
        str | None,
        typer.Option(
            "--license",
            metavar="ID",
            help="License of the model, such as apache-2.0.",
            show_default="as in the front matter of README.md",
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Language of the model, such as en; repeatable.",
            show_default="as in the config",
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Data set on the hub that the model was trained on; repeatable."),
    ] = None,
    evaluation: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Results of `linker evaluate --json`: baselines for the card."),
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Create a private repository.")] = False,
    revision: Annotated[
        str | None, typer.Option(metavar="BRANCH", help="Branch to commit to.", show_default="main")
    ] = None,
    message: Annotated[str | None, typer.Option(metavar="TEXT", help="Message of the commit.")] = None,
) -> None:
    """Upload a model folder with a model card to a Hugging Face hub, in one commit.

    Prints the name that loads exactly this model. Needs a token that may write, in HF_TOKEN or by `hf auth login`.
    """
    from linker.ranking.ranker import load

    ranker = load(model)
    if license_ is None:
        say("no --license given: the card has the license that README.md names, if any")
    if evaluation is None:
        say("no --evaluation given: the card has no baselines")
    print(
        ranker.push_to_hub(
            name,
            private=private,
            revision=revision,
            message=message,
            license=license_,
            languages=language,
            datasets=dataset,
            evaluation=evaluation,
        )
    )
