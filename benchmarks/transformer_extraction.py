"""Speed of a transformer's frozen layers beside plain use of the package transformers.

    python benchmarks/transformer_extraction.py FOLDER [--sentences N] [--threads N]

Plain use is what its documentation shows: sentences in batches as they come, padded, with an
attention mask, and the subwords of a word averaged. Both do the same work on the same sentences,
in turn, and the ratio of the medians is printed with the greatest difference of the vectors.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoModel, AutoTokenizer

from elmo_bench.features.transformer import TransformerEncoder
from elmo_bench.mini.files import ensure_mini
from elmo_bench.mini.settings import MiniSettings

BATCH_SIZE = 32
ROUNDS = 3


class Plain:
    """Padded batches, all hidden layers, the mean of a word's subwords."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()

    @torch.no_grad()
    def embed(self, sentences: list[list[str]]) -> list[Tensor]:
        results = []
        for start in range(0, len(sentences), BATCH_SIZE):
            some = sentences[start : start + BATCH_SIZE]
            inputs = self.tokenizer(
                some, is_split_into_words=True, padding=True, return_tensors="pt"
            )
            hidden = self.model(**inputs, output_hidden_states=True).hidden_states
            layers = torch.stack(hidden)  # (layer, sentence, subword, dim)
            for row, words in enumerate(some):
                word_of = inputs.word_ids(row)
                rows = [[] for _ in words]
                for position, word in enumerate(word_of):
                    if word is not None:
                        rows[word].append(position)
                vectors = [layers[:, row, positions].mean(dim=1) for positions in rows]
                results.append(torch.stack(vectors, dim=1))
        return results


def seconds(embed: Callable[[], object]) -> float:
    start = time.perf_counter()
    embed()
    return time.perf_counter() - start


def read_sentences(number: int) -> list[list[str]]:
    """Sentences of the mini benchmark, in its order."""
    folder = ensure_mini(Path("cache"), MiniSettings()) / "srl"
    sentences: list[list[str]] = [[]]
    for line in (folder / "train.gold_conll").read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            sentences += [[]] if sentences[-1] else []
        else:
            sentences[-1].append(line.split()[3])
    return [sentence for sentence in sentences if sentence][:number]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a transformer's folder")
    parser.add_argument("--sentences", type=int, default=600)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    sentences = read_sentences(args.sentences)
    ours, plain = TransformerEncoder.load(args.folder), Plain(args.folder)
    pairs = zip(ours.embed(sentences), plain.embed(sentences), strict=True)
    difference = max((one - other).abs().max().item() for one, other in pairs)
    times: dict[str, list[float]] = {"plain": [], "ours": []}
    for _ in range(ROUNDS):
        times["plain"].append(seconds(lambda: plain.embed(sentences)))
        times["ours"].append(seconds(lambda: ours.embed(sentences)))
    tokens = sum(map(len, sentences))
    medians = {name: statistics.median(some) for name, some in times.items()}
    for name, median in medians.items():
        print(f"{name:>6}: {median:6.2f} s, {tokens / median:8,.0f} tokens/s")
    print(f"ours is {medians['plain'] / medians['ours']:.2f} times as fast as plain transformers")
    print(f"{len(sentences)} sentences, {tokens} tokens; greatest difference {difference:.1e}")


if __name__ == "__main__":
    main()
