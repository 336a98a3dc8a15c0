"""Words of praise and blame, by the part of the data that may use them."""

from functools import cache

from elmo_bench.mini.draw import share
from elmo_bench.mini.lexicon import sections, table

HELD_OPINIONS = 0.45  # share of them that training never uses


@cache
def opinion_words(section: str, weight: int, for_training: bool) -> tuple[str, ...]:
    """The words of a section with this weight that the part may use."""
    every = table("opinions", section)[str(weight)]
    kept = [word for word in every if share("opinion:" + word) >= HELD_OPINIONS]
    return tuple(kept) if for_training and kept else every


@cache
def mixed_words(field: str, side: int) -> tuple[tuple[str, tuple[str, ...], int], ...]:
    """(adjective, what it is said of, weight) of words that praise one thing and blame another."""
    fields = table("opinions", "fields")
    elsewhere = {thing for name, things in fields.items() if name != field for thing in things}
    entries = []
    for line in sections("opinions")["mixed"]:
        word, praised, blamed = line.split("|")
        things = (praised if side > 0 else blamed).split()
        here = fields.get(field, things)
        kept = [t for t in things if t in here and (field in fields or t not in elsewhere)]
        if kept:
            entries.append((word, tuple(kept), side))
    return tuple(entries)
