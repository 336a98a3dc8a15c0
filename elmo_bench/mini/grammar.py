"""Clauses: a verb with its arguments and modifications, built into labeled trees.

Every way to say a clause (statement, passive, relative clause, question, infinitive, participle)
starts from the same `Clause` and marks the same roles on the phrases that express them.
"""

from dataclasses import dataclass, field

from elmo_bench.mini.morphology import verb_token
from elmo_bench.mini.tree import COMMA, PERIOD, Phrase, Token, token

NOT = token("not", "RB", effect="not")
NT = token("n't", "RB", "not", effect="not")


class Proposition:
    """A predicate in PropBank's terms; two of the same verb are different objects."""

    __slots__ = ("frameset", "lemma")

    def __init__(self, lemma: str, frameset: str) -> None:
        self.lemma = lemma
        self.frameset = frameset


@dataclass(slots=True)
class Argument:
    """One argument of a verb: its role, the preposition if any, and the phrase itself."""

    role: str
    phrase: Phrase
    preposition: str = ""
    slot: str = ""  # the slot of the fact that fills it

    def full(self) -> Phrase:
        """The phrase with its preposition, if it has one."""
        if not self.preposition:
            return self.phrase
        return Phrase(
            "PP", [token(self.preposition, "TO" if self.preposition == "to" else "IN"), self.phrase]
        )


@dataclass(slots=True)
class Clause:
    """A verb with its arguments, before its surface form is chosen."""

    lemma: str
    frameset: str
    subject: Argument
    objects: list[Argument] = field(default_factory=list)
    adjuncts: list[Argument] = field(default_factory=list)
    particle: str = ""
    tense: str = "past"  # past, present, perfect, progressive, future
    modal: str = ""
    negation: Token | None = None
    passive: bool = False
    adverb: Token | None = None  # before the main verb, as in `quickly agreed`
    adverb_role: str = "ARGM-MNR"
    effect: float | str = 0.0  # of the verb on sentiment
    proposition: Proposition = field(init=False)

    def __post_init__(self) -> None:
        self.proposition = Proposition(self.lemma, self.frameset)

    def can_be_passive(self) -> bool:
        return (
            bool(self.objects)
            and not self.objects[0].preposition
            and self.objects[0].phrase.cat == "NP"
        )


def verb_chain(clause: Clause, finite: str, agreement: str, support: bool) -> list[Token]:
    """Auxiliaries and main verb; `finite` is the form the first of them takes."""
    lemmas = []
    if clause.tense == "perfect":
        lemmas.append(("have", "VBN"))
    if clause.tense == "progressive":
        lemmas.append(("be", "VBG"))
    if clause.passive:
        lemmas.append(("be", "VBN"))
    tokens = []
    modal = clause.modal or ("will" if clause.tense == "future" else "")
    form = finite
    if modal and finite in ("VBD", "VBZ"):
        tokens.append(token(modal, "MD"))
        form = "VB"
    elif (
        (clause.negation or support)
        and not lemmas
        and clause.lemma != "be"
        and finite in ("VBD", "VBZ")
    ):
        tokens.append(verb_token("do", finite, agreement))
        form = "VB"
    for lemma, following in lemmas:
        tokens.append(verb_token(lemma, form, agreement))
        form = following
    tokens.append(
        verb_token(
            clause.lemma, form, agreement, f"{clause.lemma}.{clause.frameset}", clause.effect
        )
    )
    return tokens


def predicate(
    clause: Clause, chain: list[Token], proposition: Proposition, inverted: bool = False
) -> list[object]:
    """The verb group with its marks; without its first word if that was moved to the front."""
    kids: list[object] = []
    negation = clause.negation
    for place, word in enumerate(chain):
        last = place == len(chain) - 1
        if last and clause.adverb is not None:
            kids.append(
                Phrase("ADVP", [clause.adverb]).mark("role", proposition, clause.adverb_role)
            )
        if last and not (inverted and place == 0):
            kids.append(Phrase("", [word]).mark("role", proposition, "V"))
        elif word.pos == "MD" and not inverted:
            kids.append(Phrase("", [word]).mark("role", proposition, "ARGM-MOD"))
        elif not (inverted and place == 0):
            kids.append(word)
        if place == 0 and negation is not None:
            kids.append(Phrase("", [negation]).mark("role", proposition, "ARGM-NEG"))
    if clause.particle:
        kids.append(Phrase("PRT", [token(clause.particle, "RP")]).mark("role", proposition, "C-V"))
    return kids


def finite_form(clause: Clause) -> str:
    return "VBD" if clause.tense == "past" else "VBZ"


def arrange(clause: Clause, agentless: bool = False) -> tuple[Argument, list[Argument]]:
    """Subject and complements in surface order, after passivization."""
    if not clause.passive:
        return clause.subject, [*clause.objects, *clause.adjuncts]
    rest = clause.objects[1:]
    agent = (
        []
        if agentless or clause.subject is clause.objects[0]
        else [Argument(clause.subject.role, clause.subject.phrase, "by", clause.subject.slot)]
    )
    return clause.objects[0], [*rest, *agent, *clause.adjuncts]


def complements(arguments: list[Argument], proposition: Proposition) -> list[Phrase]:
    return [argument.full().mark("role", proposition, argument.role) for argument in arguments]


def verb_phrase(
    clause: Clause, form: str, agreement: str, proposition: Proposition, agentless: bool = False
) -> Phrase:
    """The clause without its subject."""
    _, rest = arrange(clause, agentless)
    chain = verb_chain(clause, form, agreement, support=False)
    return Phrase("VP", [*predicate(clause, chain, proposition), *complements(rest, proposition)])


def statement(clause: Clause, front: bool = False, agentless: bool = False) -> Phrase:
    """A declarative clause without its final stop; `front` moves the last adjunct to the start."""
    proposition = clause.proposition
    opening: list[object] = []
    if front and clause.adjuncts and clause.adjuncts[-1].role == "ARGM-TMP":
        moved = clause.adjuncts.pop()
        opening = [moved.full().mark("role", proposition, moved.role), COMMA]
    subject, _ = arrange(clause, agentless)
    noun = subject.full().mark("role", proposition, subject.role)
    body = verb_phrase(clause, finite_form(clause), noun.agreement, proposition, agentless)
    return Phrase("S", [*opening, noun, body])


def full_stop(clause: Phrase) -> Phrase:
    return Phrase("TOP", [clause, PERIOD])
