"""The world: entities with their names and kinds."""

from dataclasses import dataclass, field
from typing import Any

from elmo_bench.mini.draw import share
from elmo_bench.mini.lexicon import table
from elmo_bench.mini.tree import Token, token

HELD_NAMES = 0.4  # share of name words that the training files of the tasks never use

OCCUPATIONS = table("names", "occupations")  # by kind of person
GROUPS = {  # what a slot may require besides a single kind
    "person": tuple(OCCUPATIONS),
    "spouse": tuple(OCCUPATIONS),
    "artist": ("writer", "filmmaker", "actor", "musician"),
    "work": ("novel", "film", "album"),
    "anyone": ("politician", "executive", "company", "club", "town", "country"),
}
EQUAL = 60  # members of each kind in the group that can quarrel, so that people do not dominate


@dataclass(eq=False, slots=True)
class Entity:
    """Something with a name. Its label is its OntoNotes type, such as PERSON or WORK_OF_ART."""

    key: str
    kind: str
    label: str
    full: tuple[Token, ...]
    short: tuple[Token, ...]
    nouns: tuple[str, ...]
    gender: str = "n"  # f, m, n
    article: bool = False
    held: bool = False  # never named in the training files
    since: int = 0  # year of birth, foundation or publication
    home: "Entity | None" = None
    nation: "Entity | None" = None
    employer: "Entity | None" = None  # a club, a company, a party
    adjective: Token | None = None  # of a country: Valdorian

    @property
    def name(self) -> str:
        return " ".join(item.word for item in self.full)


@dataclass(slots=True)
class World:
    """All entities, by kind and by group of kinds, and what is settled about them."""

    pools: dict[str, list[Entity]] = field(default_factory=dict)
    known: dict[str, list[Entity]] = field(default_factory=dict)  # entities that training may name
    held: dict[str, list[Entity]] = field(default_factory=dict)  # all other entities
    facts: dict[str, list[Any]] = field(default_factory=dict)  # lasting facts, by entity key

    def add(self, entity: Entity) -> None:
        self.pools.setdefault(entity.kind, []).append(entity)

    def close(self) -> None:
        """Finish the world: group the kinds, and separate known from held-out entities."""
        for group, kinds in GROUPS.items():
            most = EQUAL if group == "anyone" else None
            self.pools[group] = [entity for kind in kinds for entity in self.pools[kind][:most]]
        for kind, pool in self.pools.items():
            self.known[kind] = [entity for entity in pool if not entity.held]
            self.held[kind] = [entity for entity in pool if entity.held]

    def entities(self) -> list[Entity]:
        """Every entity once."""
        return [item for kind, pool in self.pools.items() if kind not in GROUPS for item in pool]


_NAME_TAGS = {"of": "IN", "the": "DT", "The": "DT", "and": "CC", "&": "CC", "'s": "POS", "'": "POS"}


def name_tokens(text: str) -> tuple[Token, ...]:
    return tuple(token(word, _NAME_TAGS.get(word, "NNP"), word) for word in text.split())


def is_held(text: str) -> bool:
    """Whether training never sees a name; its words decide, so all entities of that name agree."""
    return any(share("name:" + word) < HELD_NAMES for word in text.split() if word != "The")
