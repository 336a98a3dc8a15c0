"""Two people who do things together: `A and B`, then `they`."""

from elmo_bench.mini.discourse.compose import AND, Composer
from elmo_bench.mini.facts import Fact
from elmo_bench.mini.grammar import statement
from elmo_bench.mini.reference import OBJECT
from elmo_bench.mini.tree import Phrase, token
from elmo_bench.mini.world import Entity

THEY = token("they", "PRP")


def say_together(composer: Composer, one: Entity, other: Entity, facts: list[Fact]) -> None:
    """Tell the facts about `one` of both people where possible."""
    both = Entity(f"{one.key}+{other.key}", "pair", "", (), (), (), "p")
    named = False
    for fact in facts:
        forms = [
            form
            for form in composer.forms(fact, one)
            if not form[1] and not form[0].owners and form[0].lemma != "be"
        ]
        if not forms or other in fact.entities():
            continue
        clause = composer.clause(fact, composer.draw.pick(forms))
        if named:
            pair = Phrase("NP", [THEY], "p")
        else:
            second = composer.discourse.refer(other, OBJECT)
            pair = Phrase("NP", [clause.subject.phrase, AND, second], "p")
            named = True
        clause.subject.phrase = pair.mark("mention", both)
        composer.finish(statement(clause, front=composer.draw.chance(0.2)))
