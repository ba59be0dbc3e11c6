"""The model that `linker rank` takes without `--model`: linker/models/pretrained/best.

    python scripts/make_best.py runs/best

The folder given is one of configs/best.jsonnet (docs/recipes/best.md). Its network is written in 8 bits, a quarter of
the room; where it was trained, and from which files, is left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from linker.models.archive import load_model, read_config, save_model
from linker.models.pretrained import BEST, FOLDERS
from linker.models.siamese.quantization import FILE, save_int8

WEIGHTS = "part-0/transformer/model.safetensors"
HUB = "sentence-transformers/all-MiniLM-L6-v2"

CARD = """# The model that ranks where none is named

Four of the six layers of the sentence transformer all-MiniLM-L6-v2 (Apache-2.0), which learned from the whole of it and
then from links; TF-IDF of the posts at hand and the word vectors of `distilled` beside it; articles asked together
compete for each post. Made by `scripts/make_best.py` from a run of `configs/best.jsonnet`; its network's weights are
kept in 8 bits.

It learned from 100,094 English tweets, headlines, captions and fact-checks of 2011 to 2021, and from links of 12,878
tweets to 6,426 items: headlines on US and British news of 2013 and 2014 (The Plazz), and fact-checks of PolitiFact and
Snopes. `benchmarks/quality.md` says how good it is on later items of the same sources, and what such a model is worth
on a source that it learned no link of. Expect less on other languages, topics and times. A score is not a probability:
label a sample by hand and measure.
"""


def main() -> None:
    """Read the trained folder, write the one that comes along."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trained", type=Path, help="a model folder of configs/best.jsonnet")
    parser.add_argument("--out", type=Path, default=FOLDERS[BEST])
    options = parser.parse_args()
    config: dict[str, Any] = read_config(options.trained)["model"]
    config["model"]["parts"][0]["path"] = HUB
    save_model(load_model(options.trained), options.out, {"model": config}, {}, CARD)
    whole = options.out / WEIGHTS
    save_int8(load_file(whole), whole.with_name(FILE))
    whole.unlink()
    size = sum(file.stat().st_size for file in options.out.rglob("*") if file.is_file())
    print(f"{options.out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
