"""Fill the world of a seed with people, places, organizations, works and events."""

from functools import cache

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.history import settle_facts
from elmo_bench.mini.lexicon import sections, table, words
from elmo_bench.mini.tree import Token, token
from elmo_bench.mini.world import GROUPS, OCCUPATIONS, Entity, World, is_held, name_tokens

SHARED, TOWNS, FAMILIES, FIRMS = 90, 60, 60, 30  # made-up names for several kinds, for one kind
CLUBS, UNIVERSITIES, NEWSPAPERS = 110, 30, 30
PEOPLE = {"footballer": 240, "trainer": 90}  # by kind; 70 of each other kind
WORKS, EVENTS = 150, 60
BIRTHS = {"footballer": (1982, 1995), "trainer": (1950, 1975)}
EMPLOYERS = {"footballer": "club", "trainer": "club", "executive": "company", "politician": "party"}
NOUNS = table("names", "nouns")


@cache
def build_world(seed: int) -> World:
    """Build the world of a seed, which is the same on every machine and never changes."""
    draw = Draw(seed, "world")
    world = World()
    stems, endings = words("names", "stems"), words("names", "endings")
    made_up = draw.shuffled([stem + ending for stem in stems for ending in endings])
    shared, made_up = made_up[:SHARED], made_up[SHARED:]
    towns, made_up = made_up[:TOWNS], made_up[TOWNS:]
    families, made_up = made_up[:FAMILIES], made_up[FAMILIES:]
    surnames = [*shared, *families, *words("names", "families")]
    first_names = [*words("names", "place_women"), *words("names", "place_men")]
    firms = [*made_up[:FIRMS], *draw.some(shared, 40), *draw.some(words("names", "families"), 25)]
    _add_land(world, draw)
    _add_towns(world, draw, [*shared, *towns, *first_names])
    _add_clubs(world, draw)
    _add_companies(world, draw, firms)
    _add_institutions(world, draw)
    _add_people(world, draw, surnames)
    _add_works(world, draw)
    _add_events(world, draw)
    world.close()
    settle_facts(world, Draw(seed, "facts"))
    return world


def _peer(draw: Draw, pool: list[Entity], held: bool) -> Entity:
    """An entity to relate to another: if training mentions one, it may name the other."""
    return draw.pick(pool if held else [entity for entity in pool if not entity.held])


def _add_land(world: World, draw: Draw) -> None:
    for line in sections("names")["countries"]:
        name, adjective = line.split()
        tokens = name_tokens(name)
        country = Entity(f"country-{name}", "country", "GPE", tokens, tokens, NOUNS["country"])
        country.held = is_held(name)
        country.adjective = token(adjective, "JJ", adjective)
        world.add(country)
    for name in words("names", "rivers"):
        tokens = name_tokens(name)
        full = name_tokens("River " + name) if draw.chance(0.4) else tokens
        river = Entity(f"river-{name}", "river", "LOC", full, tokens, NOUNS["river"], article=True)
        river.held = is_held(name)
        world.add(river)
    for name in words("names", "mountains"):
        tokens = name_tokens("Mount " + name)
        mountain = Entity(f"mountain-{name}", "mountain", "LOC", tokens, tokens, NOUNS["mountain"])
        mountain.held = is_held(name)
        world.add(mountain)


def _add_towns(world: World, draw: Draw, names: list[str]) -> None:
    sorts = tuple(tuple(line.split()) for line in sections("names")["town_nouns"])
    for name in names:
        tokens = name_tokens(name)
        town = Entity(f"town-{name}", "town", "GPE", tokens, tokens, draw.pick(sorts))
        town.held, town.since = is_held(name), draw.between(1100, 1900)
        town.nation = _peer(draw, world.pools["country"], town.held)
        world.add(town)


def _add_clubs(world: World, draw: Draw) -> None:
    endings = ("", "", *words("names", "club_endings"))
    for town in draw.some(world.pools["town"], CLUBS):
        full = name_tokens(f"{town.name} {draw.pick(endings)}")
        club = Entity(f"club-{town.name}", "club", "ORG", full, town.full, NOUNS["club"])
        club.held, club.home, club.nation = town.held, town, town.nation
        club.since = draw.between(1870, 1960)
        world.add(club)


def _add_companies(world: World, draw: Draw, names: list[str]) -> None:
    endings = ("", "", "", "& Sons", *words("names", "company_endings"))
    for name in names:
        ending = draw.pick(endings)
        full = name_tokens(f"{name} {ending}")
        short = full if ending == "& Sons" else name_tokens(name)
        company = Entity(f"company-{name}", "company", "ORG", full, short, NOUNS["company"])
        company.held, company.since = is_held(name), draw.between(1900, 1995)
        company.home = _peer(draw, world.pools["town"], company.held)
        company.nation = company.home.nation
        world.add(company)


def _add_institutions(world: World, draw: Draw) -> None:
    towns = world.pools["town"]
    for town in draw.some(towns, UNIVERSITIES):
        of = draw.chance(0.5)
        full = name_tokens(f"University of {town.name}" if of else f"{town.name} University")
        _add_institution(world, "university", town, full, article=of)
    for town in draw.some(towns, NEWSPAPERS):
        full = name_tokens(town.name + " " + draw.pick(words("names", "newspapers")))
        _add_institution(world, "newspaper", town, full, article=True)
    for name in sections("names")["parties"]:
        tokens = name_tokens(name)
        party = Entity(
            f"party-{name}", "party", "ORG", tokens, tokens, NOUNS["party"], article=True
        )
        party.held = is_held(name.split()[0])
        world.add(party)


def _add_institution(
    world: World, kind: str, town: Entity, full: tuple[Token, ...], article: bool
) -> None:
    found = Entity(f"{kind}-{town.name}", kind, "ORG", full, full, NOUNS[kind], article=article)
    found.held, found.home = town.held, town
    world.add(found)


def _add_people(world: World, draw: Draw, surnames: list[str]) -> None:
    first_names = {
        "f": words("names", "women") + words("names", "place_women"),
        "m": words("names", "men") + words("names", "place_men"),
    }
    taken = set()
    for kind, occupations in OCCUPATIONS.items():
        for number in range(PEOPLE.get(kind, 70)):
            gender = draw.pick("fm")
            either = draw.chance(0.08)
            first = draw.pick(words("names", "either") if either else first_names[gender])
            last = draw.pick(surnames)
            if first == last or (first, last) in taken:
                continue
            taken.add((first, last))
            noun = draw.pick(occupations)
            if noun == "actor" and gender == "f":
                noun = "actress"
            full = name_tokens(f"{first} {last}")
            person = Entity(f"{kind}-{number}", kind, "PERSON", full, full[1:], (noun,), gender)
            person.held, person.since = (
                is_held(person.name),
                draw.between(*BIRTHS.get(kind, (1930, 1985))),
            )
            if kind in EMPLOYERS:
                person.employer = _peer(draw, world.pools[EMPLOYERS[kind]], person.held)
            person.home = _peer(draw, world.pools["town"], person.held)
            person.nation = person.home.nation
            world.add(person)


def _add_works(world: World, draw: Draw) -> None:
    adjectives, nouns = words("names", "title_adjectives"), words("names", "title_nouns")
    titles = draw.shuffled([f"{first} {second}" for first in adjectives for second in nouns])
    others = draw.shuffled(
        [town.name for town in world.pools["town"]]
        + [*words("names", "women"), *words("names", "men")]
    )
    for number, title in enumerate(titles[:WORKS]):
        kind = GROUPS["work"][number % 3]
        style = draw.between(0, 4)
        if style == 0:
            title = others.pop()  # a film called Ashford, an album called Clara
        elif style < 4:
            title = "The " + title
        tokens = name_tokens(title)
        work = Entity(f"work-{number}", kind, "WORK_OF_ART", tokens, tokens, NOUNS[kind])
        work.held = is_held(title)
        world.add(work)


def _add_events(world: World, draw: Draw) -> None:
    hosts = draw.some([*world.pools["town"], *world.pools["company"]], EVENTS)
    for number, host in enumerate(hosts):
        ending = "Prize" if number % 3 == 0 else draw.pick(words("names", "events"))
        kind = "prize" if ending == "Prize" else "event"
        tokens = (*host.short, *name_tokens(ending))
        nouns = (ending.lower(),)
        event = Entity(f"event-{number}", kind, "EVENT", tokens, tokens, nouns, article=True)
        event.held = host.held
        world.add(event)
