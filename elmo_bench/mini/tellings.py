"""Reads the notation of `lexicon/relations.txt`: relations, their slots, the ways to tell them."""

from dataclasses import dataclass
from functools import cache

from elmo_bench.mini.draw import share
from elmo_bench.mini.lexicon import lexicon_lines
from elmo_bench.mini.tree import Token, token

HELD_WORDS = 0.3  # share of verbs and nouns that the training files of the tasks never use
_HOLES = {"!": "owner", "~": "noun"}
_CATEGORIES = {"IN": "PP", "TO": "PP", "RB": "ADVP", "JJ": "ADJP", "JJR": "ADJP", "RBR": "ADVP"}


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
    slot: str  # that fills the role alone, or empty
    slots: tuple[str, ...]  # whose value is told
    owners: tuple[str, ...]  # that are only pointed to


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
    slots: frozenset[str]  # that it can tell
    needed: frozenset[str]  # that it always tells
    owners: frozenset[str]  # that it points to by a pronoun or a noun

    @property
    def subject_slot(self) -> str:
        return self.roles[0].filler.slot

    def can_be_passive(self) -> bool:
        """Whether there is an object that can be the subject and does not point back."""
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
        """Whether it tells what an apposition would tell as well: where something is from."""
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


def _part(text: str) -> Token | Hole:
    if text[0] == "{":
        return Hole("class", text[1:-1])
    if text[0] == "[":
        name = text[1:-1]
        return Hole(_HOLES.get(name[-1], "slot"), name.rstrip("!~"))
    return parse_tagged(text)


def _filler(text: str, slots: dict[str, str]) -> Filler:
    if text in slots:
        return Filler((Hole("slot", text),), "NP", False, text, (text,), ())
    parts = tuple(_part(piece) for piece in text.split("_"))
    examples = [  # a token of every part, to see what kind of phrase it is
        part
        if isinstance(part, Token)
        else members(part.name, False)[0]
        if part.kind == "class"
        else None
        for part in parts
    ]
    tags = [example.pos if example else "NN" for example in examples]
    category = _CATEGORIES.get(tags[0], "NP")
    end = next((i for i, tag in enumerate(tags) if i and tag in ("IN", "TO")), len(tags))
    if category == "ADJP" and any(tag.startswith("NN") for tag in tags[:end]):
        category = "NP"
    head = examples[end - 1]
    plural = tags[end - 1] == "NNS" or (head is not None and head.word in ("we", "they"))
    holes = [part for part in parts if isinstance(part, Hole)]
    return Filler(
        parts,
        category,
        plural,
        "",
        tuple(hole.name for hole in holes if hole.kind == "slot"),
        tuple(hole.name for hole in holes if hole.kind in ("owner", "noun")),
    )


def _role(text: str, slots: dict[str, str]) -> Role:
    label, _, filler = text.partition("=")
    preposition, colon, rest = filler.partition(":")
    optional = label.endswith("?")
    if colon:
        return Role(label.rstrip("?"), preposition, _filler(rest, slots), optional)
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
        "active" if lemma in ("be", "become") else voice,
        share("verb:" + lemma) < HELD_WORDS,
        "@loose" in flags,
        frozenset(slot for role in roles for slot in role.filler.slots),
        frozenset(slot for role in roles if not role.optional for slot in role.filler.slots),
        frozenset(slot for role in roles for slot in role.filler.owners),
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
