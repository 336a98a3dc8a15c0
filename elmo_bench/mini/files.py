"""Write the mini benchmark: six tasks, word senses and a corpus, all about one world."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Literal, get_args

from filelock import FileLock

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.population import build_world
from elmo_bench.mini.settings import VERSION, MiniSettings
from elmo_bench.mini.teller import Part, Teller
from elmo_bench.mini.views.coref import coref_lines
from elmo_bench.mini.views.corpus import corpus_lines
from elmo_bench.mini.views.ner import ner_lines
from elmo_bench.mini.views.snli import snli_lines
from elmo_bench.mini.views.squad import squad_json
from elmo_bench.mini.views.srl import srl_lines
from elmo_bench.mini.views.sst5 import sst5_lines
from elmo_bench.mini.views.wsd import wsd_lines
from elmo_bench.mini.world import World
from elmo_bench.records.atomic import replace_folder

Split = Literal["train", "dev", "test"]


def write_mini(directory: Path, settings: MiniSettings) -> None:
    """Write all files of the benchmark into a folder, in the formats of the official corpora."""
    world = build_world(settings.seed)
    for split in get_args(Split):
        _write_tasks(directory, settings, world, split)
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


def _write_tasks(directory: Path, settings: MiniSettings, world: World, split: Split) -> None:
    count = getattr(settings, split)
    documents = getattr(settings, f"{split}_documents")

    def teller(task: str) -> Teller:
        return _teller(settings, world, task, split, split)

    _write(directory / f"ner/{split}.txt", ner_lines(teller("ner"), count))
    _write(directory / f"sst5/{split}.txt", sst5_lines(teller("sst5"), count))
    _write(directory / f"snli/{split}.jsonl", snli_lines(teller("snli"), split, count))
    _write(directory / f"squad/{split}.json", [squad_json(teller("squad"), split, count)])
    _write(directory / f"srl/{split}.gold_conll", srl_lines(teller("srl"), split, count))
    _write(
        directory / f"coref/{split}.v4_gold_conll", coref_lines(teller("coref"), split, documents)
    )


def _teller(settings: MiniSettings, world: World, task: str, part: Part, name: str) -> Teller:
    return Teller(world, Draw(settings.seed, task, name), part)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def ensure_mini(cache: Path, settings: MiniSettings) -> Path:
    """Return the folder of the benchmark under `cache`, writing it if it does not exist."""
    identity = json.dumps({"version": VERSION, **asdict(settings)}, sort_keys=True)
    folder = cache / f"mini-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.exists():  # otherwise another process wrote it meanwhile
                with replace_folder(folder) as unfinished:
                    write_mini(unfinished, settings)
    return folder
