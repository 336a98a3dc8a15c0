"""Pairs about one fact with names in it, told twice."""

from elmo_bench.mini.facts import Fact
from elmo_bench.mini.grammar import NOT, Argument, Clause, full_stop, statement
from elmo_bench.mini.reference import Discourse
from elmo_bench.mini.relations import ALL_RELATIONS
from elmo_bench.mini.subordination import infinitive
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tellings import Telling
from elmo_bench.mini.tree import Sentence
from elmo_bench.mini.world import Entity

Verbs = tuple[tuple[str, str], ...]
OPEN: Verbs = (
    *(("agree", "01"), ("hope", "01"), ("plan", "01"), ("want", "01")),
    *(("try", "01"), ("offer", "01"), ("intend", "01"), ("promise", "01")),
)
INVOLUNTARY = frozenset({"die", "injury", "flood", "disaster", "profit", "premiere", "star"})
AGAINST: Verbs = (("refuse", "01"), ("decline", "02"), ("fail", "01"))


class FactPairs:
    """Draws a hypothesis that allows every label, then a premise that fits the label."""

    def __init__(self, teller: Teller) -> None:
        self.teller = teller
        self.draw = teller.draw
        self.names = [
            name
            for name in ALL_RELATIONS
            if sum(not telling.loose for telling in teller.tellings[name]) > 1
        ]

    def pair(self, label: str) -> tuple[Sentence, Sentence]:
        """Premise and hypothesis."""
        if self.draw.chance(0.12):
            return self._negated_pair(label)
        fact, told, extra, others = self._hypothesis()
        slots = told.needed | frozenset(extra)
        other = self.draw.pick(others)
        hypothesis = self._sentence(fact, told, slots)
        if label == "entailment":
            return self._sentence(fact, other, self._more(other, slots)), hypothesis
        if label == "neutral":
            return self._neutral(fact, told, slots, extra), hypothesis
        return self._contradiction(fact, told, slots, other), hypothesis

    def _hypothesis(self) -> tuple[Fact, Telling, list[str], list[Telling]]:
        """A fact, its telling, the optional slots told, and other tellings that can tell them."""
        while True:
            fact = self.teller.fact(self.draw.pick(self.names))
            told = self.draw.pick(self.teller.exact(fact))
            extra = self.draw.some(sorted(told.slots - told.needed), self.draw.between(1, 2))
            slots = told.needed | frozenset(extra)
            others = [item for item in self.teller.exact(fact) if item.slots >= slots]
            others = [item for item in others if item is not told]
            if extra and others and self._can_be_tried(fact, told):
                return fact, told, extra, others

    def _can_be_tried(self, fact: Fact, told: Telling) -> bool:
        """Whether its subject can also hope or refuse to do it."""
        subject = fact.slots.get(told.subject_slot)
        willing = isinstance(subject, Entity) and fact.relation.name not in INVOLUNTARY
        return willing and not told.present and told.voice != "passive"

    def _negated_pair(self, label: str) -> tuple[Sentence, Sentence]:
        """The hypothesis denies the fact."""
        while True:
            fact = self.teller.fact(self.draw.pick(self.names))
            told, other = self.draw.some(self.teller.exact(fact), 2)
            if told.needed == other.needed and self._can_be_tried(fact, told):
                break
        hypothesis = self._sentence(fact, told, told.needed, negated=True)
        if label == "entailment":
            return self._sentence(fact, other, told.needed, negated=True), hypothesis
        if label == "neutral":
            return self._attempt(fact, told, told.needed, OPEN), hypothesis
        return self._sentence(fact, other, self._more(other, told.needed)), hypothesis

    def _sentence(
        self, fact: Fact, telling: Telling, slots: frozenset[str], negated: bool = False
    ) -> Sentence:
        clause = self.teller.clause(fact, Discourse(self.draw, names_only=True), telling, slots)
        clause.negation = NOT if negated else None
        front = not negated and self.draw.chance(0.2)
        return Sentence(full_stop(statement(clause, front=front)))

    def _more(self, telling: Telling, slots: frozenset[str]) -> frozenset[str]:
        return slots | {slot for slot in sorted(telling.slots) if self.draw.chance(0.4)}

    def _contradiction(
        self, fact: Fact, told: Telling, slots: frozenset[str], other: Telling
    ) -> Sentence:
        chance = self.draw.unit()
        if chance < 0.2 and other.needed <= slots:
            return self._sentence(fact, other, other.needed, negated=True)
        if chance < 0.4:
            return self._attempt(fact, told, told.needed, AGAINST)
        changed = self.draw.pick(sorted(slots))
        fresh = fact
        while _words(fresh, changed) == _words(fact, changed):
            fresh = self.teller.fact(fact.relation.name)
        altered = {**fact.slots, changed: fresh.slots[changed]}
        false = Fact(fact.relation, altered, fact.nouns)
        return self._sentence(false, other, self._more(other, slots))

    def _neutral(
        self, fact: Fact, told: Telling, slots: frozenset[str], extra: list[str]
    ) -> Sentence:
        if self.draw.chance(0.35):
            return self._attempt(fact, told, slots, OPEN)
        dropped = self.draw.pick(extra)
        fitting = [item for item in self.teller.exact(fact) if dropped not in item.needed]
        chosen = self.draw.pick(fitting)
        return self._sentence(fact, chosen, self._more(chosen, slots) - {dropped})

    def _attempt(self, fact: Fact, told: Telling, slots: frozenset[str], verbs: Verbs) -> Sentence:
        """`X hoped to ...`, `X refused to ...`."""
        discourse = Discourse(self.draw, names_only=True)
        inner = self.teller.clause(fact, discourse, told, slots, passive=False)
        subject = inner.subject.phrase
        lemma, frameset = self.draw.pick(verbs)
        outer = Clause(lemma, frameset, Argument("ARG0", subject))
        outer.objects = [Argument("ARG1", infinitive(inner, subject))]
        return Sentence(full_stop(statement(outer)))


def _words(fact: Fact, slot: str) -> list[str]:
    value = fact.slots[slot]
    return [item.word for item in (value.short if isinstance(value, Entity) else value.tokens)]
