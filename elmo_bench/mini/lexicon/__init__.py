"""The words of the world: text files in this folder, read by section."""

from functools import cache
from importlib.resources import files


@cache
def lexicon_lines(name: str) -> tuple[str, ...]:
    """The lines of `<name>.txt` without comments and blank lines; indentation is kept."""
    text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line.strip() and not line.startswith("#"))


@cache
def sections(name: str) -> dict[str, tuple[str, ...]]:
    """The lines of a file by their `[section]`."""
    found: dict[str, list[str]] = {}
    for line in lexicon_lines(name):
        if line.startswith("["):
            current = found[line.strip("[]")] = []
        else:
            current.append(line)
    return {section: tuple(lines) for section, lines in found.items()}


@cache
def words(name: str, section: str) -> tuple[str, ...]:
    """All words of a section."""
    return tuple(" ".join(sections(name)[section]).split())


@cache
def table(name: str, section: str) -> dict[str, tuple[str, ...]]:
    """A section of `key: words` entries; a line without a key continues the previous one."""
    found: dict[str, tuple[str, ...]] = {}
    key = ""
    for line in sections(name)[section]:
        head, colon, rest = line.partition(":")
        if colon:
            key, line = head, rest
        found[key] = (*found.get(key, ()), *line.split())
    return found
