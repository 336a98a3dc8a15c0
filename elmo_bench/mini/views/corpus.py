"""Plain text for language models: one tokenized sentence per line, about the whole world."""

from collections.abc import Iterator

from elmo_bench.mini.discourse.texts import any_text
from elmo_bench.mini.teller import Teller


def corpus_lines(teller: Teller, tokens: int) -> Iterator[str]:
    """Sentences of complete texts until they have `tokens` words."""
    done = 0
    while done < tokens:
        for sentence in any_text(teller, "nnnnnppppprrrrrrrrrrsssccccdbh", 4, 10).sentences:
            words = sentence.words
            yield " ".join(words)
            done += len(words)
            if done >= tokens:
                return
