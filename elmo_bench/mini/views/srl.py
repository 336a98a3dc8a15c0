"""Semantic roles: sentences with the propositions that were built into them."""

from collections.abc import Iterator

from elmo_bench.mini.discourse.texts import any_text
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.views.conll2012 import argument_columns, document_lines, propositions


def srl_lines(teller: Teller, count: int) -> Iterator[str]:
    """The lines of a file of `count` sentences, each with at least one proposition."""
    done = number = 0
    while done < count:
        text = any_text(teller, "nnnppccrsd", 4, 9)
        kept = [sentence for sentence in text.sentences if propositions(sentence)][: count - done]
        name = f"{text.genre}/mini/{teller.part}_{number:04d}"
        columns = [argument_columns(sentence) for sentence in kept]
        blank = [["-"] * len(sentence.tokens) for sentence in kept]
        yield from document_lines(name, kept, columns, blank)
        done += len(kept)
        number += 1
