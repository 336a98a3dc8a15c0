"""Word senses: occurrences of ambiguous words, each with its meaning."""

import json
from collections.abc import Iterator
from functools import cache

from elmo_bench.mini.grammar import full_stop, statement
from elmo_bench.mini.reference import Discourse
from elmo_bench.mini.relations import EVERY_RELATION
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tellings import noun_classes, parse_tagged
from elmo_bench.mini.tree import Sentence


@cache
def ambiguous() -> frozenset[str]:
    """Nouns and verbs with two or more meanings."""
    senses: dict[str, set[str]] = {}
    for members in noun_classes().values():
        for text in members:
            noun = parse_tagged(text)
            if noun.sense:
                senses.setdefault(noun.lemma, set()).add(noun.sense)
    for relation in EVERY_RELATION.values():
        for telling in relation.tellings:
            if not telling.particle and telling.lemma != "be":
                senses.setdefault(telling.lemma, set()).add(f"{telling.lemma}.{telling.frameset}")
    return frozenset(lemma for lemma, found in senses.items() if len(found) > 1)


def wsd_lines(teller: Teller, count: int) -> Iterator[str]:
    """One occurrence per line: {lemma, sense, index, tokens}."""
    names = ["happening"] * 400 + list(EVERY_RELATION)
    done = 0
    while done < count:
        fact, telling = teller.happening(teller.draw.pick(names))
        clause = teller.clause(fact, Discourse(teller.draw), telling)
        sentence = Sentence(full_stop(statement(clause, front=teller.draw.chance(0.2))))
        known = [
            (place, item)
            for place, item in enumerate(sentence.tokens)
            if item.sense and item.lemma in ambiguous() and not clause.particle
        ]
        for place, item in known[: count - done]:
            row = {
                "lemma": item.lemma,
                "sense": item.sense,
                "index": place,
                "tokens": sentence.words,
            }
            yield json.dumps(row, ensure_ascii=False)
            done += 1
