"""Prints the test files that concern what changed since this branch left main, for `make check`.

These are the test files that were changed, those that name a changed module, or its package if
none names the module, and those called after a changed task. The rest is for `make test`.
"""

import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def changed_files() -> list[Path]:
    """Changed and new files, relative to the checkout."""

    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=PROJECT, capture_output=True, text=True)
        return done.stdout.splitlines()

    base = next(iter(git("merge-base", "HEAD", "main")), "HEAD")
    names = [*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")]
    return [Path(name) for name in names]


def concerned(changed: Iterable[Path], tests: Iterable[Path]) -> list[Path]:
    """The test files that concern these changes; all paths are relative to the checkout."""
    changed = set(changed)
    texts = {test: (PROJECT / test).read_text("utf-8") for test in sorted(tests)}
    chosen = changed.intersection(texts)
    for module in filter(None, map(_module, changed)):
        chosen |= _naming(module, texts)
    tasks = {path.parts[1] for path in changed if path.parts[0] == "tasks"}
    chosen |= {test for test in texts if tasks.intersection(test.stem.split("_"))}
    return sorted(chosen)


def _naming(module: str, texts: Mapping[Path, str]) -> set[Path]:
    """The tests that name the module, or else its closest package that any of them names."""
    while "." in module:
        pattern = re.compile(rf"\b{re.escape(module)}\b")
        if found := {test for test, text in texts.items() if pattern.search(text)}:
            return found
        module = module.rpartition(".")[0]
    return set()


def _module(path: Path) -> str | None:
    """What tests call a file of the library: its module, or its package if it is no module."""
    if path.parts[0] == "tasks":
        path = Path("elmo_bench", path)
    if path.parts[0] not in ("elmo_bench", "benchmarks", "conf"):
        return None
    if path.parts[0] == "conf":
        return "elmo_bench.config"
    name = path.with_suffix("") if path.suffix == ".py" else path.parent
    return ".".join(name.parts).removesuffix(".__init__")


if __name__ == "__main__":
    every = [path.relative_to(PROJECT) for path in (PROJECT / "tests").rglob("test_*.py")]
    print(*concerned(changed_files(), every))
