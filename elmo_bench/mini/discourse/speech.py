"""Quotes, reported speech and wishes."""

from elmo_bench.mini.discourse.compose import AND, Composer
from elmo_bench.mini.facts import Fact
from elmo_bench.mini.grammar import Argument, Clause, statement
from elmo_bench.mini.lexicon import sections
from elmo_bench.mini.reference import OBJECT, SUBJECT
from elmo_bench.mini.subordination import TO, infinitive
from elmo_bench.mini.tellings import Telling
from elmo_bench.mini.tree import CAPITAL, CLOSE_QUOTE, COMMA, OPEN_QUOTE, PERIOD, Phrase, token
from elmo_bench.mini.world import Entity

Remark = tuple[Fact, Telling]
THAT, ACCORDING = token("that", "IN"), token("according", "VBG", "accord")


def quote(composer: Composer, speaker: Entity, remarks: list[Remark]) -> None:
    """A sentence with one or two remarks of the speaker, who is `I` in them."""
    discourse = composer.discourse
    lemma, frameset = composer.draw.pick(sections("remarks_words")["saying"]).split()
    first = composer.draw.chance(0.3)
    source = discourse.refer(speaker, SUBJECT) if first else None
    discourse.speaker = speaker
    said = [
        statement(composer.teller.clause(fact, discourse, telling)) for fact, telling in remarks
    ]
    discourse.speaker = None
    source = source or discourse.refer(speaker, SUBJECT)
    saying = Clause(lemma, frameset, Argument("ARG0", source))
    if first:
        composer.end(_after(saying, said))
    else:
        composer.end(_around(saying, said))


def _after(saying: Clause, said: list[Phrase]) -> Phrase:
    """`X said , `` We won , and I am happy . ''`."""
    kids: list[object] = [said[0]]
    for clause in said[1:]:
        kids += [COMMA, AND, clause]
    speech = Phrase("S", [OPEN_QUOTE, CAPITAL, *kids, PERIOD, CLOSE_QUOTE])
    speech.mark("role", saying.proposition, "ARG1")
    return Phrase("TOP", [Phrase("S", [*statement(saying).kids, COMMA, speech])])


def _around(saying: Clause, said: list[Phrase]) -> Phrase:
    """`` `` We won , '' X said , `` and I am happy . '' ``."""
    speech = Phrase("S", [OPEN_QUOTE, said[0], COMMA, CLOSE_QUOTE])
    speech.mark("role", saying.proposition, "ARG1")
    main = statement(saying)
    if len(said) == 1:
        return Phrase("TOP", [Phrase("S", [speech, *main.kids]), PERIOD])
    rest = Phrase("S", [OPEN_QUOTE, AND, said[1], PERIOD, CLOSE_QUOTE])
    rest.mark("role", saying.proposition, "C-ARG1")
    return Phrase("TOP", [Phrase("S", [speech, *main.kids, COMMA, rest])])


def wish(composer: Composer, fact: Fact, entity: Entity) -> None:
    """`X hopes to join Y`, `X is expected to join Y`: the fact itself remains open."""
    forms = [form for form in composer.forms(fact, entity) if not form[0].present and not form[1]]
    if not forms:
        composer.say(fact)
        return
    inner = composer.clause(fact, composer.draw.pick(forms))
    subject = inner.subject.phrase
    if composer.draw.chance(0.65):
        lemma, frameset, tense = composer.draw.pick(sections("remarks_words")["wishes"]).split()
        outer = Clause(lemma, frameset, Argument("ARG0", subject), tense=tense)
        outer.objects = [Argument("ARG1", infinitive(inner, subject))]
    else:
        lemma, frameset, tense = composer.draw.pick(
            sections("remarks_words")["expectations"]
        ).split()
        holder = Argument("ARG1", subject)
        outer = Clause(lemma, frameset, holder, [holder], tense=tense, passive=True)
        outer.objects.append(Argument("C-ARG1", infinitive(inner, subject)))
    composer.finish(statement(outer))


def report(composer: Composer, speaker: Entity, fact: Fact) -> None:
    """`X said that ...`, `according to X , ...`."""
    according = composer.draw.chance(0.25)
    source = composer.discourse.refer(speaker, OBJECT if according else SUBJECT)
    inner = statement(composer.clause(fact))
    if according:
        opening = Phrase("PP", [ACCORDING, TO, source])
        composer.finish(Phrase("S", [opening, COMMA, *inner.kids]))
        return
    lemma, frameset = composer.draw.pick(sections("remarks_words")["reporting"]).split()
    outer = Clause(lemma, frameset, Argument("ARG0", source))
    outer.objects = [Argument("ARG1", Phrase("SBAR", [THAT, inner]))]
    composer.finish(statement(outer))
