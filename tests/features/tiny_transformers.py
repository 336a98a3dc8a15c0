"""Tiny transformers with random weights, written as `save_pretrained` writes them."""

import json
from pathlib import Path

import torch
import transformers

PIECES = ["the", "cat", "sat", "un", "##believ", "##ably", "don", "'", "t", "new", "york", "."]
LETTERS = [*"abcdefghijklmnopqrstuvwxyz", *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz")]
SIZES = {
    "hidden_size": 8,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "initializer_range": 0.5,  # so that words and contexts differ clearly
}


def write_bert(folder: Path, seed: int = 0, **changes: int | bool) -> Path:
    """A BERT with 16 positions and a WordPiece vocabulary."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = list(dict.fromkeys([*special, *PIECES, *LETTERS]))
    settings = {**SIZES, "max_position_embeddings": 16, **changes}
    config = transformers.BertConfig(vocab_size=len(vocabulary), **settings)
    torch.manual_seed(seed)
    transformers.BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    about = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 16}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return folder


def write_bytes_tokenizer(folder: Path) -> int:
    """A tokenizer of bytes without merges, as RoBERTa and GPT-2 have; return its size."""
    from tokenizers.pre_tokenizers import ByteLevel

    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(ByteLevel.alphabet())]
    (folder / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizer"}')
    return len(names)


def write_roberta(folder: Path) -> Path:
    """A RoBERTa with 30 positions after its padding, and subwords that are bytes."""
    folder.mkdir(parents=True)
    size = write_bytes_tokenizer(folder)
    config = transformers.RobertaConfig(
        vocab_size=size, max_position_embeddings=32, pad_token_id=1, **SIZES
    )
    torch.manual_seed(0)
    transformers.RobertaModel(config).save_pretrained(folder)
    return folder


def write_gpt2(folder: Path) -> Path:
    folder.mkdir(parents=True)
    size = write_bytes_tokenizer(folder)
    config = transformers.GPT2Config(vocab_size=size, n_embd=8, n_layer=2, n_head=2, n_positions=32)
    transformers.GPT2Model(config).save_pretrained(folder)
    return folder


def write_t5(folder: Path) -> Path:
    folder.mkdir(parents=True)
    size = write_bytes_tokenizer(folder)
    config = transformers.T5Config(
        vocab_size=size, d_model=8, d_kv=4, d_ff=12, num_layers=2, num_heads=2
    )
    transformers.T5Model(config).save_pretrained(folder)
    return folder
