"""Sentences out of facts: alone, joined, subordinated, wished for, reported, quoted."""

from elmo_bench.mini.grammar import NOT, NT, Argument, Clause, full_stop, statement
from elmo_bench.mini.lexicon.remarks import EXPECTATIONS, REPORTING, SAYING, WISHES
from elmo_bench.mini.reference import SUBJECT, Discourse
from elmo_bench.mini.subordination import TO, infinitive, joined_predicates, participle, relative
from elmo_bench.mini.teller import Fact, Teller
from elmo_bench.mini.tree import (
    CAPITAL,
    CLOSE_QUOTE,
    COMMA,
    OPEN_QUOTE,
    PERIOD,
    Phrase,
    Sentence,
    token,
)
from elmo_bench.mini.world import Entity

WHO, WHICH, WHERE, THAT = (
    token("who", "WP"),
    token("which", "WDT"),
    token("where", "WRB"),
    token("that", "IN"),
)
AFTER, BEFORE, BECAUSE = token("after", "IN"), token("before", "IN"), token("because", "IN")
AND, BUT, WHILE = token("and", "CC"), token("but", "CC", effect="but"), token("while", "IN")
ACCORDING = token("according", "VBG", "accord")
MODALS = ("will", "may", "could", "should", "would", "might")


class Composer:
    """Writes one text, sentence by sentence."""

    def __init__(self, teller: Teller) -> None:
        self.teller = teller
        self.draw = teller.draw
        self.discourse = Discourse(teller.draw)
        self.sentences: list[Sentence] = []

    def finish(self, clause: Phrase, speaker: str = "-") -> None:
        """Close a sentence and turn to the next."""
        self._end(full_stop(clause), speaker)

    def _end(self, root: Phrase, speaker: str = "-") -> None:
        self.sentences.append(Sentence(root, speaker))
        self.discourse.next_sentence()

    def clause(self, fact: Fact) -> Clause:
        return self.teller.clause(fact, self.discourse)

    def say(self, fact: Fact, hedge: bool = True) -> None:
        """One fact, one sentence; with `hedge`, now and then negated or uncertain."""
        clause = self.clause(fact)
        chance = self.draw.unit()
        if hedge and clause.tense == "past" and chance < 0.16:
            if chance < 0.05:
                clause.negation = NOT if self.draw.chance(0.6) else NT
            elif chance < 0.1:
                self._make_modal(clause)
            else:
                clause.tense = "perfect" if not _has_date(clause) else "past"
        self.finish(statement(clause, front=self.draw.chance(0.25)))

    def _make_modal(self, clause: Clause) -> None:
        clause.modal = self.draw.pick(MODALS)
        clause.adjuncts = [item for item in clause.adjuncts if item.role != "ARGM-TMP"]

    def say_two(self, first: Fact, second: Fact) -> None:
        """Two facts in one sentence, joined by what they share."""
        one, two = subject_of(first), subject_of(second)
        chance = self.draw.unit()
        if one is two and chance < 0.4:
            self._join_predicates(first, second)
        elif one is two and chance < 0.6:
            self._after(first, second)
        elif shared := shared_entity(first, second):
            if chance < 0.75:
                self._relative(first, second, shared)
            else:
                self._join(first, second)
        else:
            self._join(first, second)

    def _plain(self, fact: Fact) -> Clause:
        """A clause whose subject is the first entity of the fact, in the active voice."""
        entity = subject_of(fact)
        fitting = [
            telling
            for telling in self.teller.tellings[fact.relation.name]
            if fact.slots.get(telling.roles[0].filler.slot) is entity and telling.voice != "passive"
        ]
        telling = self.draw.pick(fitting) if fitting else None
        return self.teller.clause(fact, self.discourse, telling, passive=False if fitting else None)

    def _join_predicates(self, first: Fact, second: Fact) -> None:
        left, right = self._plain(first), self._plain(second)
        if right.subject.slot == "" or second.slots.get(right.subject.slot) is not first.slots.get(
            left.subject.slot
        ):
            self.finish(statement(left))
            self.finish(statement(self._plain(second)))
            return
        left.subject.phrase.mark("slot", second, right.subject.slot, self.teller.told)
        self.finish(joined_predicates(left, right, "and"))

    def _after(self, first: Fact, second: Fact) -> None:
        """`After joining A , X scored`: the first fact loses its subject."""
        early = self._plain(first)
        if early.tense == "present" or early.passive:
            self.say(first)
            self.say(second)
            return
        late = self._plain(second)
        if (
            late.subject.slot == ""
            or late.passive
            or late.tense == "present"
            or early.subject.slot == ""
        ):
            self.say(first)
            self.say(second)
            return
        subject = (
            early.subject.phrase
        )  # comes first in reading order, so it holds the full expression
        late.subject.phrase = subject
        subject.mark("slot", second, late.subject.slot, self.teller.told)
        opening = participle(early, subject, self.draw.pick((AFTER, BEFORE)))
        self.finish(Phrase("S", [opening, COMMA, *statement(late).kids]))

    def _relative(self, first: Fact, second: Fact, entity: Entity) -> None:
        clause = self.clause(first)
        holder = next(
            (item for item in _arguments(clause) if first.slots.get(item.slot) is entity), None
        )
        if holder is None or holder.phrase.kids[-1] is COMMA or _is_pronoun(holder.phrase):
            self.finish(statement(clause))
            self.say(second)
            return
        inner = self.teller.clause(second, self.discourse, passive=False)
        gap = next(
            (item for item in _arguments(inner) if second.slots.get(item.slot) is entity), None
        )
        if gap is None or (gap.preposition and gap.role != "ARGM-LOC"):
            self.finish(statement(clause))
            self.say(second)
            return
        pronoun = WHERE if gap.preposition else WHO if entity.label == "PERSON" else WHICH
        if pronoun is WHO and gap.role != inner.subject.role:
            pronoun = token("whom", "WP")
        holder.phrase.mark("slot", second, gap.slot, self.teller.told)
        holder.phrase = relative(inner, holder.phrase, gap, pronoun, comma=True)
        self.finish(statement(clause))

    def _join(self, first: Fact, second: Fact) -> None:
        left = statement(self.clause(first))
        right = statement(self.clause(second))
        word = self.draw.pick((AND, AND, WHILE))
        self.finish(Phrase("S", [left, COMMA, word, right]))

    def wish(self, fact: Fact) -> None:
        """`X hopes to join Y`, `X is expected to join Y`: the fact itself stays open."""
        inner = self._plain(fact)
        inner.tense = "past"
        if inner.passive or inner.subject.slot == "":
            self.finish(statement(inner))
            return
        subject = inner.subject.phrase
        if self.draw.chance(0.65):
            lemma, frameset, tense = self.draw.pick(WISHES)
            outer = Clause(lemma, frameset, Argument("ARG0", subject), tense=tense)
            outer.objects = [Argument("ARG1", infinitive(inner, subject))]
        else:
            lemma, frameset = self.draw.pick(EXPECTATIONS)
            holder = Argument("ARG1", subject)
            outer = Clause(
                lemma,
                frameset,
                holder,
                [holder],
                passive=True,
                tense="present" if lemma in ("expect", "tip") else "past",
            )
            outer.objects.append(Argument("C-ARG1", infinitive(inner, subject)))
        self.finish(statement(outer))

    def report(self, speaker: Entity, fact: Fact) -> None:
        """`X said that ...`, `according to X , ...`."""
        source = self.discourse.refer(speaker, SUBJECT)
        inner = statement(self.clause(fact))
        if self.draw.chance(0.25):
            opening = Phrase("PP", [ACCORDING, TO, source])
            self.finish(Phrase("S", [opening, COMMA, *inner.kids]))
            return
        lemma, frameset = self.draw.pick(REPORTING)
        outer = Clause(lemma, frameset, Argument("ARG0", source))
        outer.objects = [Argument("ARG1", Phrase("SBAR", [THAT, inner]))]
        self.finish(statement(outer))

    def quote(self, speaker: Entity, remarks: list[Fact]) -> None:
        """Direct speech of one or two clauses: before, after or around the words of saying."""
        lemma, frameset = self.draw.pick([pair for pair in SAYING if pair[0] != "tell"])
        after = self.draw.chance(0.7)
        source = None if after else self.discourse.refer(speaker, SUBJECT)
        self.discourse.speaker = speaker
        said = [statement(self.clause(remark)) for remark in remarks]
        self.discourse.speaker = None
        source = source or self.discourse.refer(speaker, SUBJECT)
        outer = Clause(lemma, frameset, Argument("ARG0", source))
        proposition = outer.proposition
        if not after:
            speech = Phrase("S", [OPEN_QUOTE, CAPITAL, *_joined(said), PERIOD, CLOSE_QUOTE])
            main = statement(outer)
            self._end(Phrase("TOP", [main, COMMA, speech.mark("role", proposition, "ARG1")]))
            return
        speech = Phrase("S", [OPEN_QUOTE, said[0], COMMA, CLOSE_QUOTE]).mark(
            "role", proposition, "ARG1"
        )
        main = statement(outer)
        if len(said) == 1:
            self.finish(Phrase("S", [speech, *main.kids]))
            return
        rest = Phrase("S", [OPEN_QUOTE, AND, said[1], PERIOD, CLOSE_QUOTE]).mark(
            "role", proposition, "C-ARG1"
        )
        self._end(Phrase("TOP", [Phrase("S", [speech, *main.kids, COMMA, rest])]))


def _joined(clauses: list[Phrase]) -> list[object]:
    kids: list[object] = [clauses[0]]
    for clause in clauses[1:]:
        kids += [COMMA, AND, clause]
    return kids


def _arguments(clause: Clause) -> list[Argument]:
    return [clause.subject, *clause.objects, *clause.adjuncts]


def _is_pronoun(phrase: Phrase) -> bool:
    first = phrase.kids[0]
    return not isinstance(first, Phrase) and first.pos.startswith("PRP")


def _has_date(clause: Clause) -> bool:
    return any(item.role == "ARGM-TMP" for item in clause.adjuncts)


def subject_of(fact: Fact) -> Entity | None:
    """What the fact is about: its first slot."""
    first = next(iter(fact.slots.values()))
    return first if isinstance(first, Entity) else None


def shared_entity(first: Fact, second: Fact) -> Entity | None:
    entities = [value for value in first.slots.values() if isinstance(value, Entity)]
    return next((value for value in second.slots.values() if value in entities), None)
