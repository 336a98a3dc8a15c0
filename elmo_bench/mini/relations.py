"""Parser of `lexicon/relations.txt`: relations, their slots, the ways to tell them."""

from elmo_bench.mini.draw import share
from elmo_bench.mini.lexicon import lexicon_lines
from elmo_bench.mini.tellings import (
    HELD_WORDS,
    Filler,
    Hole,
    Relation,
    Role,
    Telling,
    members,
    parse_tagged,
)
from elmo_bench.mini.tree import Token

_HOLES = {"!": "owner", "~": "noun"}
_CATEGORIES = {"IN": "PP", "TO": "PP", "RB": "ADVP", "JJ": "ADJP", "JJR": "ADJP", "RBR": "ADVP"}


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
    examples = [  # one token per part, to determine the kind of phrase
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
