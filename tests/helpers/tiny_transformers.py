"""Tiny networks of Hugging Face with random weights, made and kept in a folder: nothing is fetched."""

from pathlib import Path

import pytest
import torch

from tests.conftest import TOPICS

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789#@:/.!?-"
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 24}
SPREAD = {"initializer_range": 0.5}  # else all texts lie in nearly the same place


def tiny(
    kind: str,
    folder: Path,
    positions: int = 300,
    masked_lm: bool = False,
    dropout: float = 0.1,
    heads: int = 2,
) -> Path:
    """The folder of a `bert` or `roberta` network."""
    transformers = pytest.importorskip("transformers", "5", reason="makes tokenizers as transformers 5 does")
    torch.manual_seed(3)
    transformers.utils.logging.disable_progress_bar()
    sizes = SIZES | SPREAD | {"num_attention_heads": heads}
    sizes |= {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "bert":
        tokenizer = _word_pieces(transformers, folder)
        config = transformers.BertConfig(
            vocab_size=len(tokenizer), max_position_embeddings=positions, pad_token_id=0, **sizes
        )
        family = transformers.BertForMaskedLM if masked_lm else transformers.BertModel
    else:
        tokenizer = _byte_pairs(transformers, folder)
        config = transformers.RobertaConfig(
            vocab_size=len(tokenizer), max_position_embeddings=positions + 2, pad_token_id=1, **sizes
        )
        family = transformers.RobertaForMaskedLM if masked_lm else transformers.RobertaModel
    tokenizer.save_pretrained(folder)
    family(config).save_pretrained(folder)
    return folder


def _word_pieces(transformers, folder: Path):
    topics = [f"{topic}{i}" for topic in TOPICS for i in range(8)] + [f"w{i}" for i in range(60)]
    pieces = [*LETTERS, *(f"##{letter}" for letter in LETTERS), *topics, "the", "cat", "sat"]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (folder / "vocab.txt").write_text("\n".join([*special, *pieces]) + "\n")
    return transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"))


def _byte_pairs(transformers, folder: Path):
    from tokenizers import ByteLevelBPETokenizer

    trained = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    texts = [f"{topic}{i} w{i} the cat" for topic in TOPICS for i in range(8)]
    trained.train_from_iterator(
        texts, vocab_size=400, min_frequency=1, special_tokens=special, show_progress=False
    )
    trained.save_model(str(folder))
    return transformers.RobertaTokenizerFast(
        vocab=str(folder / "vocab.json"), merges=str(folder / "merges.txt")
    )
