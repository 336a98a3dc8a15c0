"""Reads the notation of `lexicon/relations.txt`: relations, their slots, the ways to tell them."""

from dataclasses import dataclass
from functools import cache

from elmo_bench.mini.draw import share
from elmo_bench.mini.lexicon import lexicon_lines
from elmo_bench.mini.tree import Token, token

HELD_WORDS = 0.3  # share of verbs and nouns that the training files of the tasks never use
Part = Token | str  # a string is `[slot]`, `[slot!]` or `{class}`


@dataclass(frozen=True)
class Filler:
    """What fills a role: a slot (one part, `[slot]`) or tagged text with holes."""

    parts: tuple[Part, ...]
    category: str
    plural: bool

    @property
    def slot(self) -> str:
        """The slot that fills the role alone, or the empty string."""
        only = self.parts[0]
        return (
            only[1:-1] if len(self.parts) == 1 and isinstance(only, str) and only[0] == "[" else ""
        )


@dataclass(frozen=True)
class Role:
    """One role of a telling."""

    label: str
    preposition: str
    filler: Filler
    optional: bool

    def slots(self) -> list[str]:
        return [
            part[1:-1]
            for part in self.filler.parts
            if isinstance(part, str) and part[0] == "[" and part[-2] != "!"
        ]


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
    slots: frozenset[str]
    needed: frozenset[str]


@dataclass(frozen=True)
class Relation:
    """A type of fact: what fills its slots, and its tellings."""

    name: str
    slots: dict[str, str]
    tellings: tuple[Telling, ...]

    @property
    def settled(self) -> bool:
        """Whether it tells what an apposition would tell as well: where something is from."""
        return "home" in self.slots.values() or "nation" in self.slots.values()


def parse_tagged(text: str) -> Token:
    """`word/POS` or `word#sense/POS`."""
    word, _, pos = text.rpartition("/")
    word, _, sense = word.partition("#")
    lemma = _singular(word) if pos == "NNS" else word.lower()
    return token(word, pos, lemma, f"{lemma}.{sense}" if sense else "")


def _singular(word: str) -> str:
    irregular = {"people": "person", "children": "child", "thieves": "thief", "police": "police"}
    if word in irregular:
        return irregular[word]
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


@cache
def noun_classes() -> dict[str, tuple[str, ...]]:
    """The tagged nouns of every class."""
    entries = (line.partition(":") for line in lexicon_lines("nouns"))
    return {name: tuple(nouns.split()) for name, _, nouns in entries}


@cache
def members(name: str, for_training: bool) -> tuple[Token, ...]:
    """The nouns of a class; the training files use only some of them."""
    nouns = [parse_tagged(text) for text in noun_classes()[name]]
    kept = [noun for noun in nouns if noun.sense or share(noun.word) >= HELD_WORDS]
    return tuple(kept if for_training and kept else nouns)


def _filler(text: str, slots: dict[str, str]) -> Filler:
    if text in slots:
        return Filler((f"[{text}]",), "NP", False)
    parts: list[Part] = [
        piece if piece[0] in "[{" else parse_tagged(piece) for piece in text.split("_")
    ]
    first = parts[0]
    category = {"IN": "PP", "TO": "PP", "RB": "ADVP", "JJ": "ADJP"}.get(
        first.pos if isinstance(first, Token) else "", "NP"
    )
    if category == "ADJP" and any(
        isinstance(part, Token) and part.pos in ("NN", "NNS") and part.word != "team"
        for part in parts
    ):
        category = "NP"
    if first == "{quickly}":
        category = "ADVP"
    head = [part for part in parts if isinstance(part, Token) or part[0] == "{"]
    before = next(
        (
            i
            for i, part in enumerate(parts)
            if isinstance(part, Token) and part.pos in ("IN", "TO") and i
        ),
        len(parts),
    )
    last = parts[before - 1] if head else parts[0]
    plural = (
        isinstance(last, Token) and (last.pos == "NNS" or last.word in ("we", "they"))
    ) or last in ("{workers}", "{officials}")
    return Filler(tuple(parts), category, plural)


def _role(text: str, slots: dict[str, str]) -> Role:
    label, _, filler = text.partition("=")
    preposition, colon, slot = filler.partition(":")
    optional = label.endswith("?")
    if colon:
        return Role(label.rstrip("?"), preposition, _filler(slot, slots), optional)
    return Role(label.rstrip("?"), "", _filler(filler, slots), optional)


def _telling(line: str, slots: dict[str, str]) -> Telling:
    verb, *rest = line.split()
    lemma, _, frameset = verb.partition(".")
    lemma, _, particle = lemma.partition("_")
    flags = {word for word in rest if word[0] == "@"}
    roles = tuple(_role(word, slots) for word in rest if word[0] != "@")
    voice = "active" if "@active" in flags else "passive" if "@passive" in flags else "both"
    return Telling(
        lemma,
        particle,
        frameset,
        roles,
        "@present" in flags,
        voice,
        share("verb:" + lemma) < HELD_WORDS,
        "@loose" in flags,
        frozenset(slot for role in roles for slot in role.slots()),
        frozenset(slot for role in roles if not role.optional for slot in role.slots()),
    )


def _relations(name: str) -> dict[str, Relation]:
    found: dict[str, Relation] = {}
    header: list[str] = []
    told: list[Telling] = []
    for line in (*lexicon_lines(name), ""):
        if line.startswith(" "):
            told.append(_telling(line, dict(pair.split(":") for pair in header[1:])))
            continue
        if header:
            slots = dict(pair.split(":") for pair in header[1:])
            found[header[0]] = Relation(header[0], slots, tuple(told))
        header, told = line.split(), []
    return found


ALL_RELATIONS = _relations("relations")
EVERY_RELATION = {**ALL_RELATIONS, **_relations("remarks"), **_relations("happenings")}
