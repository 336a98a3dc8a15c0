"""Subordinate and coordinate clauses and questions: other forms of a `grammar` clause."""

from elmo_bench.mini.grammar import (
    Argument,
    Clause,
    arrange,
    complements,
    finite_form,
    predicate,
    verb_chain,
    verb_phrase,
)
from elmo_bench.mini.morphology import verb_token
from elmo_bench.mini.tree import COMMA, QUESTION, Phrase, Token, token

TO = token("to", "TO")
AND = token("and", "CC")


def joined_predicates(first: Clause, second: Clause) -> Phrase:
    """Two clauses of one subject: `X did this and did that`."""
    one, two = first.proposition, second.proposition
    subject, _ = arrange(first)
    other, _ = arrange(second)
    noun = subject.full().mark("role", one, subject.role).mark("role", two, other.role)
    left = verb_phrase(first, finite_form(first), noun.agreement, one)
    right = verb_phrase(second, finite_form(second), noun.agreement, two)
    return Phrase("S", [noun, Phrase("VP", [left, AND, right])])


def relative(clause: Clause, head: Phrase, gap: Argument, pronoun: Token) -> Phrase:
    """A noun phrase with a relative clause, in which it fills the argument `gap`."""
    proposition = clause.proposition
    head.mark("role", proposition, gap.role)
    wh = Phrase("WHNP", [pronoun]).mark("role", proposition, "R-" + gap.role)
    subject, rest = arrange(clause)
    if subject.role == gap.role:
        body = verb_phrase(clause, finite_form(clause), head.agreement, proposition)
        inner = Phrase("S", [body])
    else:
        noun = subject.full().mark("role", proposition, subject.role)
        chain = verb_chain(clause, finite_form(clause), noun.agreement, support=False)
        others = [argument for argument in rest if argument.role != gap.role]
        verb = Phrase(
            "VP", [*predicate(clause, chain, proposition), *complements(others, proposition)]
        )
        inner = Phrase("S", [noun, verb])
    tail = Phrase("SBAR", [wh, inner])
    return Phrase("NP", [head, COMMA, tail, COMMA], head.agreement)


def participle(clause: Clause, subject_phrase: Phrase, opener: Token | None = None) -> Phrase:
    """A clause whose subject is that of the main clause: `after joining X`, `signed by X`."""
    proposition = clause.proposition
    subject, _ = arrange(clause)
    subject_phrase.mark("role", proposition, subject.role)
    if clause.passive and opener is None:
        _, rest = arrange(clause)
        sense = f"{clause.lemma}.{clause.frameset}"
        verb = Phrase("", [verb_token(clause.lemma, "VBN", "s", sense)])
        verb.mark("role", proposition, "V")
        particle = predicate(clause, [verb.kids[0]], proposition)[1:]
        return Phrase("S", [Phrase("VP", [verb, *particle, *complements(rest, proposition)])])
    body = Phrase("S", [verb_phrase(clause, "VBG", "s", proposition)])
    return body if opener is None else Phrase("PP", [opener, body])


def infinitive(clause: Clause, subject_phrase: Phrase) -> Phrase:
    """`to join X`; its subject is in the main clause."""
    proposition = clause.proposition
    subject, _ = arrange(clause)
    subject_phrase.mark("role", proposition, subject.role)
    return Phrase("S", [Phrase("VP", [TO, verb_phrase(clause, "VB", "s", proposition)])])


def question(clause: Clause, asked: str, wh: Phrase, pied_piping: bool) -> Phrase:
    """The question for the slot `asked`; `pied_piping` is `from whom` rather than `who from`."""
    proposition = clause.proposition
    subject, rest = arrange(clause)
    if subject.slot == asked:
        wh.mark("role", proposition, subject.role)
        told = verb_phrase(clause, finite_form(clause), wh.agreement, proposition)
        return Phrase("SBARQ", [wh, told, QUESTION])
    gap = next(argument for argument in rest if argument.slot == asked)
    noun = subject.full().mark("role", proposition, subject.role)
    chain = verb_chain(clause, finite_form(clause), noun.agreement, support=True)
    before = rest[: rest.index(gap)]
    after = rest[rest.index(gap) + 1 :]
    opening: list[Phrase | Token] = [wh.mark("role", proposition, gap.role)]
    stranded: list[Token] = []
    if gap.preposition:
        preposition = token(gap.preposition, "IN")
        if pied_piping:
            opening.insert(0, preposition)
        else:
            stranded = [preposition]
    body = [
        *predicate(clause, chain, proposition, inverted=True),
        *complements(before, proposition),
        *stranded,
        *complements(after, proposition),
    ]
    return Phrase("SBARQ", [*opening, chain[0], noun, Phrase("VP", body), QUESTION])
