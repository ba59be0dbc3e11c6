"""Files with the weights of pretrained networks."""

from pathlib import Path

from linker.common.errors import ModelError
from linker.common.files import check_regular_files


def check_weight_files(folder: Path) -> None:
    """Check that the weights of PyTorch in a folder, and directly below it, are in safetensors: a pickle may run code.

    Raises:
        ModelError: if `pytorch_model.bin` is there without safetensors beside it, or anything that is not a file.
    """
    check_regular_files(folder, ModelError)
    for part in (folder, *sorted(entry for entry in folder.iterdir() if entry.is_dir())):
        pickles = sorted(part.glob("pytorch_model*.bin"))
        if pickles and not any(part.glob("*.safetensors")):
            raise ModelError(
                f"{pickles[0]}: weights in a pickle, which may run code, and none in safetensors; put the model's "
                "model.safetensors beside it, or load the model with transformers where you trust it and save it again"
            )
