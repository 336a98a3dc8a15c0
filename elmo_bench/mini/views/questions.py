"""Questions about one slot of a fact, in the words of one of its tellings."""

from elmo_bench.mini.facts import Fact
from elmo_bench.mini.reference import Discourse
from elmo_bench.mini.subordination import question
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tellings import Role, Telling
from elmo_bench.mini.tree import Phrase, Sentence, Token, plain_text, token
from elmo_bench.mini.values import Value

HOW, WHICH, WHAT = token("how", "WRB"), token("which", "WDT"), token("what", "WDT")
WHO, WHERE, WHEN, WHAT_ALONE = (
    token(*pair.split("/")) for pair in ("who/WP", "where/WRB", "when/WRB", "what/WP")
)
IN, YEAR, MANY, MUCH = (
    token(*pair.split("/")) for pair in ("in/IN", "year/NN", "many/JJ", "much/JJ")
)
_FORMS: dict[str, list[list[Token]]] = {  # ways to ask for a value
    "date": [[WHEN]],
    "minute": [[WHEN], [IN, WHICH, token("minute", "NN")]],
    "product": [[WHAT_ALONE], [WHICH, token("product", "NN")]],
    "discovery": [[WHAT_ALONE]],
    "subject": [[WHAT_ALONE], [WHICH, token("subject", "NN")]],
    "money": [[HOW, MUCH], [HOW, MUCH, token("money", "NN")]],
    "instrument": [[WHICH, token("instrument", "NN")]],
    "part": [[WHICH, token("joint", "NN")]],
}


def can_ask(fact: Fact, telling: Telling, slot: str) -> bool:
    """Whether a telling can ask for a slot: it must fill a role alone or be like `1,200 people`."""
    role, value = _role(telling, slot), fact.slots[slot]
    if telling.owners and slot == telling.subject_slot:
        return False  # `which town is a town in ... ?` reveals the noun
    if isinstance(value, Value):
        return _is_count(role, value) or (bool(role.filler.slot) and value.kind in _FORMS)
    return bool(role.filler.slot)


def question_text(
    teller: Teller, fact: Fact, telling: Telling, asked: str, wanted: frozenset[str]
) -> str:
    """The question as running text; `wanted` are the slots it may reveal, and the asked one."""
    draw = teller.draw
    passive = draw.chance(0.4) and telling.can_be_passive()
    clause = teller.clause(fact, Discourse(draw, names_only=True), telling, wanted, passive)
    wh = _question_words(fact, telling, asked, teller)
    place = telling.roles.index(_role(telling, asked))
    for argument in (clause.subject, *clause.objects, *clause.adjuncts):
        if argument.role == telling.roles[place].label:
            argument.slot = asked
            if wh.cat == "WHADVP":
                argument.preposition = ""  # `where` and `when` bring their own
    return plain_text(Sentence(question(clause, asked, wh, draw.chance(0.5))).tokens)[0]


def _role(telling: Telling, slot: str) -> Role:
    return next(role for role in telling.roles if slot in role.filler.slots)


def _is_count(role: Role, value: Value) -> bool:
    parts = role.filler.parts
    return value.kind == "count" and len(parts) == 2 and isinstance(parts[1], Token)


def _question_words(fact: Fact, telling: Telling, slot: str, teller: Teller) -> Phrase:
    draw = teller.draw
    value, role = fact.slots[slot], _role(telling, slot)
    if isinstance(value, Value):
        if _is_count(role, value):
            return Phrase("WHNP", [HOW, MANY, role.filler.parts[1]], "p")
        words = draw.pick(_FORMS[value.kind])
        if value.kind == "date" and value.text.isdigit() and draw.chance(0.5):
            words = [IN, draw.pick((WHICH, WHAT)), YEAR]
        adverbial = words[0] in (WHEN, IN)
        return Phrase("WHADVP" if adverbial else "WHNP", list(words))
    local = role.label == "ARGM-LOC" or role.preposition == "in"
    if local and value.kind in ("town", "country") and draw.chance(0.7):
        return Phrase("WHADVP", [WHERE])
    if value.label == "PERSON" and draw.chance(0.75):
        return Phrase("WHNP", [WHO])
    return Phrase("WHNP", [draw.pick((WHICH, WHAT)), token(draw.pick(value.nouns), "NN")])
