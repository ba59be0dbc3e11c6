"""`linker model`: export a trained model to ONNX, or upload it to a hub."""

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
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a trained model.")],
    name: Annotated[str, typer.Argument(metavar="USER/MODEL", help="Name of the model on the hub.")],
    private: Annotated[bool, typer.Option("--private", help="Create a private repository.")] = False,
) -> None:
    """Upload a model folder to a Hugging Face hub: what its manifest lists, without paths of this machine.

    Needs a token that may write, in HF_TOKEN or by `hf auth login`. Prints the name that loads exactly this model.
    """
    from linker.models.files.publishing import public_files, push_model

    files = public_files(model)
    for file, content in files.items():
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        say(f"{file}: {size:,} bytes")
    print(push_model(model, name, files, private))
