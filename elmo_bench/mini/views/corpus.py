"""Plain text for language models: one tokenised sentence a line, about everything in the world."""

from collections.abc import Iterator

from elmo_bench.mini.discourse.texts import any_text
from elmo_bench.mini.teller import Teller


def corpus_lines(teller: Teller, tokens: int) -> Iterator[str]:
    """Sentences of whole texts until there are `tokens` words of them."""
    done = 0
    while done < tokens:
        for sentence in any_text(teller, "nnnnnppppprrrrrrrrrrsssccccdbh", 4, 10).sentences:
            words = sentence.words
            yield " ".join(words)
            done += len(words)
            if done >= tokens:
                return
