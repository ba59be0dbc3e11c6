"""Labeled tweets, the masked-LM head of the augmentation, and embeddings for the benchmark of WRAPresentations."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from linker.common.errors import ModelError
from linker.data.types import Post
from linker.models.siamese.hugging_face import load_network


@dataclass(frozen=True)
class Labeled:
    """A set of labeled tweets: its name, the files in TACO's format, the classes."""

    name: str
    labels: Path
    texts: Path
    classes: tuple[str, ...]


def written(tweets: Path, work: Path) -> tuple[Labeled, list[str]]:
    """Write labels and texts in TACO's format; also return the tweets of the other tasks."""
    labels, texts, others = work / "labels.csv", work / "texts.jsonl", []
    with (
        gzip.open(tweets, "rt", encoding="utf-8", newline="") as file,
        labels.open("w", encoding="utf-8", newline="") as label_file,
        texts.open("w", encoding="utf-8") as text_file,
    ):
        rows = csv.writer(label_file, lineterminator="\n")
        rows.writerow(["tweet_id", "topic", "class"])
        for number, row in enumerate(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)):
            if not row["task"].startswith("stance/"):
                others.append(row["text"])
                continue
            rows.writerow([number, row["task"].removeprefix("stance/"), row["label"]])
            text_file.write(json.dumps({"id": str(number), "text": row["text"]}, ensure_ascii=False) + "\n")
    return Labeled("tweets", labels, texts, ("against", "favor", "none")), others


def headed(network: str, texts: Sequence[str], work: Path, batches: int) -> tuple[str, str]:
    """Return a network with a masked-LM head, and the head's origin."""
    out = work / "masked-lm"
    if (out / "config.json").is_file():
        return str(out), (out / "how.txt").read_text(encoding="utf-8")
    try:
        load_network(network, "masked_lm")
        return network, "the network's own"
    except ModelError:
        pass
    import transformers

    torch.manual_seed(1)
    base, tokenizer = load_network(network)  # 8-bit weights too, which Hugging Face does not read
    model = transformers.AutoModelForMaskedLM.from_config(base.config)
    model.base_model.load_state_dict(base.state_dict(), strict=False)
    model.base_model.requires_grad_(False)
    head = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(head, lr=1e-3)
    encoded = tokenizer(list(texts), truncation=True, max_length=64)["input_ids"]
    rng, losses = np.random.default_rng(1), []
    for _ in range(batches):
        chosen = [encoded[i] for i in rng.integers(len(encoded), size=32)]
        batch = tokenizer.pad({"input_ids": chosen}, return_tensors="pt")
        ids = batch["input_ids"]
        drawn = torch.rand(ids.shape) < 0.15
        hidden = drawn & ~torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
        masked = ids.masked_fill(hidden, tokenizer.mask_token_id)
        with torch.no_grad():
            states = model.base_model(input_ids=masked, attention_mask=batch["attention_mask"])[0]
        loss = torch.nn.functional.cross_entropy(model.cls(states[hidden]), ids[hidden])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    how = (
        f"trained here ({batches:,} batches of 32 of {len(texts):,} tweets; cross-entropy"
        f" {np.mean(losses[:20]):.1f} at first, {np.mean(losses[-20:]):.1f} at last), the network itself untouched"
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "how.txt").write_text(how, encoding="utf-8")
    return str(out), how


@torch.no_grad()
def mean_and_first(model: Any, posts: Sequence[Post]) -> tuple[np.ndarray, np.ndarray]:
    """Return a transformer's embeddings by mean and by CLS pooling, computed together."""
    network = model.network.eval()
    found: tuple[list[Any], list[Any]] = ([], [])
    texts = [model.post_tokens(post).ids for post in posts]
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in range(0, len(order), 64):
        padded = model.tokenizer.pad(
            {"input_ids": [texts[i].tolist() for i in order[start : start + 64]]}, return_tensors="pt"
        )
        states = network(**padded)[0]
        mask = padded["attention_mask"][..., None]
        found[0].append((states * mask).sum(1) / mask.sum(1))
        found[1].append(states[:, 0])
    back = np.argsort(order)
    mean, first = (torch.nn.functional.normalize(torch.cat(own), dim=1).numpy()[back] for own in found)
    return mean, first


def moved(model: Any, old: Path, new: Path) -> float:
    """Return the mean cosine distance of augmented texts to their originals, by a model's embeddings."""
    changed = [row for row in map(json.loads, new.open(encoding="utf-8")) if row["text"] != row["original"]]
    changed = changed[:500]
    one = model.post_vectors([Post(row["id"], row["text"]) for row in changed])
    other = model.post_vectors([Post(row["id"], row["original"]) for row in changed])
    return float(1 - (one * other).sum(1).mean())
