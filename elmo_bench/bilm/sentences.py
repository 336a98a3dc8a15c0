"""The form of what a biLM reads: sentences that are lists of tokens."""

from collections.abc import Iterator
from typing import Any

from elmo_bench.errors import UserError


def check_sentences(sentences: Any) -> None:
    """Refuse strings, whose characters would be taken for tokens."""
    for _ in checked_sentences(sentences):
        pass


def checked_sentences(sentences: Any) -> Iterator[Any]:
    """The same of a stream, which is read once."""
    if isinstance(sentences, str):
        raise UserError(f"sentences is the string {_shown(sentences)}; give [['A', 'word'], ...]")
    for number, sentence in enumerate(sentences):
        check_sentence(sentence, number)
        yield sentence


def check_sentence(sentence: Any, number: int) -> None:
    """The same of one sentence; `number` is for the message."""
    if isinstance(sentence, str):
        raise UserError(
            f"sentence {number} is the string {_shown(sentence)}; a sentence is a list of tokens, "
            "such as ['A', 'word']: tokenize it first, for example with .split()"
        )
    for token in sentence:
        if not isinstance(token, str):
            raise UserError(f"sentence {number} has the token {_shown(token)}, which is no string")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
