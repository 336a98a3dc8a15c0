"""Sentences made of facts: alone, joined, subordinated, wished for, reported."""

from elmo_bench.mini.facts import Fact
from elmo_bench.mini.grammar import NOT, NT, Argument, Clause, full_stop, statement
from elmo_bench.mini.lexicon import words
from elmo_bench.mini.reference import Discourse
from elmo_bench.mini.subordination import (
    infinitive,
    joined_predicates,
    participle,
    relative,
)
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tellings import Telling
from elmo_bench.mini.tree import COMMA, Phrase, Sentence, Token, token
from elmo_bench.mini.values import Value
from elmo_bench.mini.world import Entity

WHO, WHOM, WHICH, WHERE = (
    token(*pair) for pair in (("who", "WP"), ("whom", "WP"), ("which", "WDT"), ("where", "WRB"))
)
AND = token("and", "CC")
AFTER, BEFORE = token("after", "IN"), token("before", "IN")
SUBORDINATORS = (AFTER, BEFORE, token("while", "IN"), token("because", "IN"))
PURPOSES = frozenset({"meet", "support", "oppose", "criticise", "concert", "takeover", "appoint"})
Form = tuple[Telling, bool]  # a telling, and whether it is in the passive


class Composer:
    """Writes one text, sentence by sentence."""

    def __init__(self, teller: Teller) -> None:
        self.teller = teller
        self.draw = teller.draw
        self.discourse = Discourse(teller.draw)
        self.sentences: list[Sentence] = []

    def finish(self, clause: Phrase, speaker: str = "-") -> None:
        """Finish a sentence and start the next."""
        self.end(full_stop(clause), speaker)

    def end(self, root: Phrase, speaker: str = "-") -> None:
        self.sentences.append(Sentence(root, speaker))
        self.discourse.next_sentence()

    def clause(self, fact: Fact, form: Form | None = None) -> Clause:
        if form is None:
            return self.teller.clause(fact, self.discourse)
        return self.teller.clause(fact, self.discourse, form[0], passive=form[1])

    def say(self, fact: Fact, hedge: bool = True, telling: Telling | None = None) -> None:
        """Tell one fact in one sentence; with `hedge`, sometimes negated or uncertain."""
        clause = self.teller.clause(fact, self.discourse, telling)
        if hedge and clause.tense == "past":
            self._hedge(clause)
        said = statement(clause, front=self.draw.chance(0.25))
        if hedge and self.sentences and self.draw.chance(0.06):
            opening = token(self.draw.pick(words("remarks_words", "openings")), "RB")
            marked = Phrase("ADVP", [opening]).mark("role", clause.proposition, "ARGM-DIS")
            said = Phrase("S", [marked, COMMA, *said.kids])
        self.finish(said)

    def _hedge(self, clause: Clause) -> None:
        chance = self.draw.unit()
        dated = self._has(clause, "ARGM-TMP")
        if chance < 0.06:
            clause.negation = NOT if self.draw.chance(0.6) else NT
        elif chance < 0.11 and not dated:
            clause.modal = self.draw.pick(words("remarks_words", "modals"))
        elif chance < 0.17 and not dated:
            clause.tense = "perfect"
        elif chance < 0.27 and clause.lemma != "be" and not self._has(clause, "ARGM-MNR"):
            clause.adverb = token(self.draw.pick(words("remarks_words", "adverbs")), "RB")

    @staticmethod
    def _has(clause: Clause, role: str) -> bool:
        return any(item.role == role for item in clause.adjuncts)

    def say_two(self, first: Fact, second: Fact) -> None:
        """Tell two facts in one sentence, joined by what they share."""
        chance = self.draw.unit()
        both = [entity for entity in first.entities() if entity in second.entities()]
        for entity in both:
            one, two = self.forms(first, entity), self.forms(second, entity)
            if one and two and chance < 0.5:
                self._share_subject(first, self.draw.pick(one), second, self.draw.pick(two))
                return
            if chance < 0.85 and self._relative(first, second, entity):
                return
        left, right = self.clause(first), self.clause(second)
        alike = left.tense == right.tense == "past" and bool(_year(first)) == bool(_year(second))
        if alike and chance < 0.8:
            word = _order(second, first) or self.draw.pick(SUBORDINATORS)
            subordinate = Phrase("SBAR", [word, statement(right)])
            self.finish(Phrase("S", [*statement(left).kids, subordinate]))
        else:
            self.finish(Phrase("S", [statement(left), COMMA, AND, statement(right)]))

    def forms(self, fact: Fact, entity: Entity) -> list[Form]:
        """The forms of the fact in which the entity is the subject."""
        found: list[Form] = []
        for telling in self.teller.tellings[fact.relation.name]:
            if fact.slots.get(telling.subject_slot) is entity:
                found.append((telling, telling.voice == "passive"))
            elif (
                telling.can_be_passive() and fact.slots.get(telling.roles[1].filler.slot) is entity
            ):
                found.append((telling, True))
        return found

    def _share_subject(self, first: Fact, left: Form, second: Fact, right: Form) -> None:
        """`X joined A and scored`, `after joining A , X scored`, `X joined A to win it`."""
        one = self.clause(first, left)
        two = self.clause(second, right)
        subject = (one.objects[0] if one.passive else one.subject).phrase
        other = two.objects[0] if two.passive else two.subject
        subject.mark("slot", second, other.slot, self.teller.told)
        finite = one.tense == two.tense == "past" and not (left[1] or right[1])
        chance = self.draw.unit()
        if finite and chance < 0.35:
            other.phrase = subject  # comes first in the text, so it has the fuller expression
            opening = participle(one, subject, _order(first, second) or AFTER)
            self.finish(Phrase("S", [opening, COMMA, *statement(two).kids]))
        elif finite and chance < 0.7 and second.relation.name in PURPOSES:
            two.adjuncts = [item for item in two.adjuncts if item.role != "ARGM-TMP"]
            one.adjuncts.append(Argument("ARGM-PRP", infinitive(two, subject)))
            self.finish(statement(one))
        else:
            self.finish(joined_predicates(one, two))

    def _relative(self, first: Fact, second: Fact, entity: Entity) -> bool:
        """`X , who was born in A , joined B`; False when no telling allows it."""
        outer = [
            telling
            for telling in self.teller.tellings[first.relation.name]
            if any(
                first.slots.get(role.filler.slot) is entity and not role.optional
                for role in telling.roles
            )
        ]
        inner = self.forms(second, entity)
        if not outer or not inner or entity.key in self.discourse.known:
            return False
        self.discourse.apposed = True  # the relative clause takes the place of an apposition
        clause = self.teller.clause(first, self.discourse, self.draw.pick(outer))
        arguments = (clause.subject, *clause.objects, *clause.adjuncts)
        holder = next(item for item in arguments if first.slots.get(item.slot) is entity)
        said = self.clause(second, self.draw.pick(inner))
        gap = said.objects[0] if said.passive else said.subject
        holder.phrase.mark("slot", second, gap.slot, self.teller.told)
        if said.passive and said.tense == "past" and self.draw.chance(0.5):
            kids = [holder.phrase, COMMA, participle(said, holder.phrase), COMMA]
            holder.phrase = Phrase("NP", kids, holder.phrase.agreement)
        else:
            pronoun = WHO if entity.label == "PERSON" else WHICH
            holder.phrase = relative(said, holder.phrase, gap, pronoun)
        self.finish(statement(clause))
        return True


def _year(fact: Fact) -> int | None:
    date = fact.slots.get("date")
    return int(date.text) if isinstance(date, Value) and date.text.isdigit() else None


def _order(subordinate: Fact, main: Fact) -> Token | None:
    """`after` or `before` the subordinate fact, by the years of the two; None without years."""
    one, two = _year(subordinate), _year(main)
    if one is None:
        return None
    return BEFORE if two is not None and two < one else AFTER


def opening_words(*found: Token) -> list[Token]:
    """Each word followed by a comma."""
    return [piece for word in found for piece in (word, COMMA)]
