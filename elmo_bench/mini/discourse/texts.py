"""The mix of kinds of text that the corpus and the tasks draw from."""

from elmo_bench.mini.discourse.bulletin import bulletin, headlines
from elmo_bench.mini.discourse.dialogue import dialogue
from elmo_bench.mini.discourse.plans import PROFILED, TOPICS, Text, chronicle, news, profile
from elmo_bench.mini.discourse.review import review
from elmo_bench.mini.discourse.scenes import scene_text
from elmo_bench.mini.teller import Teller


def any_text(teller: Teller, kinds: str, shortest: int, longest: int) -> Text:
    """A text of one of `kinds`, first letters in which frequent letters are more likely."""
    draw = teller.draw
    kind = draw.pick(kinds)
    length = draw.between(shortest, longest)
    if kind == "n":
        return news(teller, draw.pick(TOPICS), length)
    if kind == "p":
        return profile(teller, teller.entity(draw.pick(PROFILED)), length)
    if kind == "d":
        return dialogue(teller, draw.pick(TOPICS), length)
    if kind == "r":
        return review(teller, length)
    if kind == "c":
        return chronicle(teller, length)
    if kind == "b":
        return bulletin(teller, length)
    if kind == "h":
        return headlines(teller, length)
    return scene_text(teller, length)
