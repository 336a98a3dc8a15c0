"""The settings of the mini benchmark: the keys of conf/data/mini.yaml besides its name."""

from dataclasses import dataclass

VERSION = "10"  # of the generator; increased whenever the same settings produce different files


@dataclass(frozen=True)
class MiniSettings:
    """Seed and sizes; examples are sentences, pairs or questions, documents for coreference."""

    seed: int = 1
    train: int = 1000
    dev: int = 300
    test: int = 300
    train_documents: int = 60
    dev_documents: int = 20
    test_documents: int = 20
    corpus_tokens: int = 1_800_000
    heldout_tokens: int = 50_000
