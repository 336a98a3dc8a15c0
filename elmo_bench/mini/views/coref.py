"""Coreference: whole texts of 5 to 25 sentences, in which every mention knows its entity."""

from collections.abc import Iterator

from elmo_bench.mini.discourse.texts import any_text
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.views.conll2012 import coref_columns, document_lines

SHORTEST, LONGEST = 5, 25


def coref_lines(teller: Teller, count: int) -> Iterator[str]:
    """The lines of a file of `count` documents."""
    number = 0
    while number < count:
        text = any_text(teller, "nnnndp", SHORTEST, LONGEST)
        if not SHORTEST <= len(text.sentences) <= LONGEST:
            continue
        columns = coref_columns(text.sentences)
        blank: list[list[list[str]]] = [[] for _ in text.sentences]
        yield from document_lines(
            f"{text.genre}/mini/{teller.part}_{number:04d}", text.sentences, blank, columns
        )
        number += 1
