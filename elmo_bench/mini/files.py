"""Write the mini benchmark: six tasks, word senses and a corpus, all about one world."""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Literal, get_args

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.population import build_world
from elmo_bench.mini.settings import VERSION, MiniSettings
from elmo_bench.mini.teller import Part, Teller
from elmo_bench.mini.views.coref import coref_lines
from elmo_bench.mini.views.corpus import corpus_lines
from elmo_bench.mini.views.ner import ner_lines
from elmo_bench.mini.views.snli import snli_lines
from elmo_bench.mini.views.squad import squad_lines
from elmo_bench.mini.views.srl import srl_lines
from elmo_bench.mini.views.sst5 import sst5_lines
from elmo_bench.mini.views.wsd import wsd_lines
from elmo_bench.mini.world import World
from elmo_bench.records.atomic import replace_folder
from elmo_bench.records.checksums import find_damage, write_checksums
from elmo_bench.records.lock import file_lock

Split = Literal["train", "dev", "test"]
Lines = Callable[[Teller, int], Iterable[str]]

# task -> the file of a split, the setting that is its number of examples, and what writes them.
# A task that is not here brings sample files in its own folder.
TASKS: dict[str, tuple[str, str, Lines]] = {
    "ner": ("{}.txt", "{}", ner_lines),
    "sst5": ("{}.txt", "{}", sst5_lines),
    "snli": ("{}.jsonl", "{}", snli_lines),
    "squad": ("{}.json", "{}", squad_lines),
    "srl": ("{}.gold_conll", "{}", srl_lines),
    "coref": ("{}.v4_gold_conll", "{}_documents", coref_lines),
}

log = logging.getLogger(__name__)


def write_mini(directory: Path, settings: MiniSettings) -> None:
    """Write all files of the benchmark into a folder, in the formats of the official corpora."""
    world = build_world(settings.seed)
    for split in get_args(Split):
        for task, (file, size, lines) in TASKS.items():
            count = getattr(settings, size.format(split))
            teller = _teller(settings, world, task, split, split)
            _write(directory / task / file.format(split), lines(teller, count))
    for split in ("train", "test"):
        count = getattr(settings, split)
        _write(
            directory / f"wsd/{split}.jsonl",
            wsd_lines(_teller(settings, world, "wsd", "corpus", split), count),
        )
    for name, tokens in (("train", settings.corpus_tokens), ("heldout", settings.heldout_tokens)):
        _write(
            directory / f"corpus/{name}.txt",
            corpus_lines(_teller(settings, world, "corpus", "corpus", name), tokens),
        )


def _teller(settings: MiniSettings, world: World, task: str, part: Part, name: str) -> Teller:
    return Teller(world, Draw(settings.seed, task, name), part)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def ensure_mini(cache: Path, settings: MiniSettings) -> Path:
    """Return the folder of the benchmark under `cache`, writing it if it is missing or damaged."""
    identity = json.dumps({"version": VERSION, **asdict(settings)}, sort_keys=True)
    folder = cache / f"mini-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    if find_damage(folder):
        cache.mkdir(parents=True, exist_ok=True)
        with file_lock(f"{folder}.lock", "generates the mini benchmark"):
            _generate(folder, settings)
    return folder


def _generate(folder: Path, settings: MiniSettings) -> None:
    """Write the folder, unless another process has done so meanwhile."""
    damage = find_damage(folder)
    if damage is None:
        return
    if folder.exists():
        log.warning("generating the mini benchmark again: %s", damage)
    else:
        log.info("generating the mini benchmark in %s", folder)
    with replace_folder(folder) as unfinished:
        write_mini(unfinished, settings)
        write_checksums(unfinished)
