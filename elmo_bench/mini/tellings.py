"""Relations, the ways to tell them, and the nouns they draw from."""

from dataclasses import dataclass
from functools import cache

from elmo_bench.mini.draw import share
from elmo_bench.mini.lexicon import lexicon_lines
from elmo_bench.mini.tree import Token, token

HELD_WORDS = 0.3  # share of verbs and nouns that the training files of the tasks never use


@dataclass(frozen=True)
class Hole:
    """A place in tagged text: `{class}`, `[slot]`, `[slot!]` its pronoun, `[slot~]` its noun."""

    kind: str  # class, slot, owner, noun
    name: str


@dataclass(frozen=True)
class Filler:
    """What fills a role: a slot alone, or tagged text with holes."""

    parts: tuple[Token | Hole, ...]
    category: str
    plural: bool
    slot: str  # the only slot that fills the role, or empty
    slots: tuple[str, ...]  # slots whose values are expressed
    owners: tuple[str, ...]  # slots that are only referred to


@dataclass(frozen=True)
class Role:
    """One role of a telling."""

    label: str
    preposition: str
    filler: Filler
    optional: bool


@dataclass(frozen=True)
class Telling:
    """One way to tell a fact: a verb and the roles that the slots of the fact play."""

    lemma: str
    particle: str
    frameset: str
    roles: tuple[Role, ...]
    present: bool
    voice: str  # "both", "active" or "passive"
    held: bool
    loose: bool
    slots: frozenset[str]  # slots that it can express
    needed: frozenset[str]  # slots that it always expresses
    owners: frozenset[str]  # slots that it refers to by a pronoun or a noun

    @property
    def subject_slot(self) -> str:
        return self.roles[0].filler.slot

    def can_be_passive(self) -> bool:
        """Whether an object can be the subject and does not refer back to another slot."""
        second = self.roles[1] if len(self.roles) > 1 else None
        return (
            self.voice == "both"
            and second is not None
            and not (second.optional or second.preposition or second.filler.owners)
            and second.filler.category == "NP"
            and second.label in ("ARG1", "ARG2")
            and not any(
                isinstance(part, Token) and part.pos == "PRP$" for part in second.filler.parts
            )
        )


@dataclass(frozen=True, eq=False)
class Relation:
    """A type of fact: what fills its slots, and its tellings."""

    name: str
    slots: dict[str, str]
    tellings: tuple[Telling, ...]

    @property
    def classes(self) -> list[str]:
        """The classes of nouns that its tellings draw from."""
        roles = [role for telling in self.tellings for role in telling.roles]
        holes = [part for role in roles for part in role.filler.parts if isinstance(part, Hole)]
        return sorted({hole.name for hole in holes if hole.kind == "class"})

    @property
    def settled(self) -> bool:
        """Whether it says what an apposition could also say: where something is from."""
        return "home" in self.slots.values() or "nation" in self.slots.values()


def parse_tagged(text: str) -> Token:
    """`word/POS` or `word#sense/POS`."""
    word, _, pos = text.rpartition("/")
    word, _, sense = word.partition("#")
    lemma = _singular(word) if pos == "NNS" else word if pos == "NNP" else word.lower()
    return token(word, pos, lemma, f"{lemma}.{sense}" if sense else "")


_SINGULARS = {"people": "person", "children": "child", "thieves": "thief", "police": "police"}


def _singular(word: str) -> str:
    if word in _SINGULARS:
        return _SINGULARS[word]
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


@cache
def noun_classes() -> dict[str, tuple[str, ...]]:
    """The tagged nouns of every class."""
    entries = (line.partition(":") for line in lexicon_lines("nouns"))
    return {name: tuple(nouns.split()) for name, _, nouns in entries}


@cache
def members(name: str, for_training: bool) -> tuple[Token, ...]:
    """The nouns of a class, ambiguous ones twice; the training files use only some of them."""
    nouns = [parse_tagged(text) for text in noun_classes()[name]]
    nouns += [noun for noun in nouns if noun.sense]
    kept = [noun for noun in nouns if noun.sense or share(noun.word) >= HELD_WORDS]
    return tuple(kept if for_training and kept else nouns)
