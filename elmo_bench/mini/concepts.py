"""Concepts and their words: which are synonyms, which are narrower, which exclude each other."""

from dataclasses import dataclass, field
from functools import cache

from elmo_bench.mini.draw import Draw, share
from elmo_bench.mini.lexicon import sections, table

SIDES = {"in": ("indoors",), "out": ("outdoors",), "any": ("indoors", "outdoors")}
HELD = 0.35  # share of scene words that training never uses


@dataclass(frozen=True)
class Concept:
    """A thing, quality or action with all its words; `kind` is the next wider concept, if any."""

    words: tuple[str, ...]
    family: str  # concepts of one family exclude each other, unless one is wider
    kind: "Concept | None" = field(default=None, compare=False)
    frameset: str = "01"

    def word(self, draw: Draw, for_training: bool) -> str:
        usable = (
            [word for word in self.words if share("scene:" + word) >= HELD]
            if for_training
            else self.words
        )
        return draw.pick(usable or self.words[:1])

    def usable(self, for_training: bool) -> bool:
        return not for_training or any(share("scene:" + word) >= HELD for word in self.words)

    def entails(self, other: "Concept") -> bool:
        return self == other or (self.kind is not None and self.kind.entails(other))

    def excludes(self, other: "Concept") -> bool:
        return self.family == other.family and not self.entails(other) and not other.entails(self)


@cache
def things() -> dict[str, tuple[Concept, ...]]:
    """Concrete concepts by the name of their kind."""
    found: dict[str, tuple[Concept, ...]] = {}
    for line in sections("scenes")["kinds"]:
        name, _, members = line.partition(":")
        wider = Concept(
            ("person",) if name == "worker" else (name,),
            "creature" if name in ("person", "worker", "animal") else name,
        )
        found[name] = tuple(
            Concept(tuple(text.split("/")), _family(name), wider) for text in members.split()
        )
    return found


def _family(name: str) -> str:
    # A nurse may be a man, so workers do not exclude men; but people exclude animals.
    return "creature" if name in ("person", "animal") else "worker" if name == "worker" else name


@cache
def places() -> dict[str, tuple[Concept, ...]]:
    return {
        side: tuple(
            Concept(tuple(text.split("/")), "place", Concept((side,), "place")) for text in members
        )
        for side, members in table("scenes", "places").items()
    }


@cache
def actions() -> tuple[tuple[Concept, str, tuple[str, ...]], ...]:
    """(action, kind of its object or the empty string, where it happens)."""
    found = []
    for line in sections("scenes")["actions"]:
        verb, frameset, target, where, same = line.split()
        words = (verb,) if same == "-" else (verb, *same.split("/"))
        action = Concept(words, "action", None, frameset)
        found.append((action, "" if target == "-" else target, SIDES[where]))
    return tuple(found)


@cache
def colours() -> tuple[Concept, ...]:
    """Shades, each a kind of its color."""
    return tuple(
        Concept((shade,), "colour", Concept((colour,), "colour"))
        for colour, shades in table("scenes", "colours").items()
        for shade in shades
    )


@cache
def states(bearer: str) -> tuple[tuple[Concept, Concept], ...]:
    """Pairs of opposite qualities of a place or a person."""
    pairs = []
    both = table("scenes", "states")[bearer]
    for number, line in enumerate(zip(both[::2], both[1::2], strict=True)):
        left, right = (Concept(tuple(text.split("/")), f"{bearer}{number}") for text in line)
        pairs.append((left, right))
    return tuple(pairs)


@cache
def times() -> tuple[Concept, ...]:
    return tuple(Concept((time,), "time") for time in table("scenes", "times"))


@cache
def counts() -> tuple[Concept, ...]:
    return tuple(Concept((number,), "count") for number in ("two", "three", "four"))
