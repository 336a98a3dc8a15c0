"""Sentiment: opinion sentences as binary trees with one of five levels at every node."""

from collections.abc import Iterator

from elmo_bench.mini.discourse.compose import Composer
from elmo_bench.mini.discourse.review import new_critic, opinion, tell_fact
from elmo_bench.mini.sentiment import tree_text
from elmo_bench.mini.teller import Teller

FACTS = 0.2  # share of sentences about works that only tell a fact


def sst5_lines(teller: Teller, count: int) -> Iterator[str]:
    """One tree per line."""
    draw = teller.draw
    for _ in range(count):
        composer = Composer(teller)
        critic = new_critic(composer)
        if not (draw.chance(FACTS) and tell_fact(composer, critic, [])):
            composer.finish(opinion(critic, draw.pick((1, -1))))
        sentence = composer.sentences[0]
        yield tree_text(sentence.tokens, sentence.root)[0]
