"""Nearest neighbors of a word in context (the paper's Table 4)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from elmo_bench.analysis.index import Index, Match, open_index
from elmo_bench.analysis.text import Line, pick_lines
from elmo_bench.errors import UserError
from elmo_bench.features.encoder import Encoder

CACHE = Path("cache/neighbors")


@dataclass(frozen=True)
class Neighbor:
    """An occurrence with its sentence, and its sense if the file has it."""

    similarity: float  # cosine
    line: int
    position: int
    tokens: tuple[str, ...]
    sense: str | None


@dataclass(frozen=True)
class Query:
    """The word in a sentence whose neighbors are searched."""

    tokens: tuple[str, ...]
    position: int
    layers: Float[np.ndarray, "layer dim"]


def ask(bilm: Encoder, sentence: str | list[str], word: str) -> Query:
    """Return the first occurrence of a word in a sentence, whose tokens are separated by spaces."""
    tokens = tuple(sentence.split() if isinstance(sentence, str) else sentence)
    positions = Line(0, tokens).positions(word)
    if not positions:
        raise UserError(
            f"{word!r} is not a token of the sentence {' '.join(tokens)!r}; separate tokens by "
            f"spaces, as in the text file."
        )
    [layers] = bilm.embed([tokens])
    return Query(tokens, positions[0], layers[:, positions[0]].cpu().numpy())


def find_neighbors(
    bilm: Encoder,
    path: Path | str,
    sentence: str | list[str],
    word: str,
    layer: int | None = None,
    top: int = 10,
    any_word: bool = False,
    center: bool = False,
    cache: Path | str = CACHE,
) -> list[Neighbor]:
    """Find the occurrences in a text file that are nearest to `word` in `sentence`.

    Args:
        bilm: The biLM that computes the layers.
        path: One tokenized sentence per line, or a .jsonl file of senses; plain or .gz.
        sentence: A list of tokens, or text with its tokens separated by spaces.
        word: One of the tokens; its first occurrence is the query.
        layer: The layer to compare; None is the last one, 0 the token layer.
        top: The number of neighbors to return.
        any_word: Compare with every word of the file, not only with occurrences of `word`.
        center: Subtract the mean of all occurrences first.
        cache: The folder that keeps the file's index.
    """
    layer = check_layer(bilm, layer)
    query = ask(bilm, sentence, word)
    index = word_index(bilm, Path(path), None if any_word else word, layer, Path(cache))
    return nearest(index, Path(path), query, layer, top, center)


def check_layer(bilm: Encoder, layer: int | None) -> int:
    """Return the number of a valid layer; None is the last one."""
    layer = bilm.num_layers - 1 if layer is None else layer
    if not 0 <= layer < bilm.num_layers:
        raise UserError(
            f"layer {layer} does not exist; this biLM has layers 0 to {bilm.num_layers - 1}"
        )
    return layer


def word_index(bilm: Encoder, path: Path, word: str | None, layer: int, cache: Path) -> Index:
    """Open the index of all layers of one word, or of one layer of every word."""
    layers = [layer] if word is None else list(range(bilm.num_layers))
    return open_index(bilm, path, word, layers, cache)


def nearest(
    index: Index, path: Path, query: Query, layer: int, top: int, center: bool = False
) -> list[Neighbor]:
    """Return the nearest occurrences, without the query itself and without duplicates."""
    wanted = top
    while True:
        matches = index.nearest(query.layers[layer], layer, wanted, center)
        found = _distinct(index, path, query, matches)
        if len(found) >= top or wanted >= len(index):
            return found[:top]
        wanted *= 4


def _distinct(index: Index, path: Path, query: Query, matches: list[Match]) -> list[Neighbor]:
    positions = {match.row: tuple(map(int, index.positions[match.row])) for match in matches}
    lines = pick_lines(path, {number for number, _ in positions.values()})
    seen = {(query.tokens, query.position)}
    found = []
    for match in matches:
        number, position = positions[match.row]
        line = lines[number]
        if (line.tokens, position) not in seen:
            seen.add((line.tokens, position))
            sense = line.senses.get(position)
            found.append(Neighbor(match.similarity, number, position, line.tokens, sense))
    return found
