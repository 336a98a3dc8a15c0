"""Tables that describe the benchmark: sizes, ambiguity, baselines, an example of every task."""

import json
from pathlib import Path

from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from elmo_bench.mini import statistics


def description(folder: Path) -> list[RenderableType]:
    """Return everything that `elmo-bench mini describe` prints, in order."""
    return [_sizes(folder), _claims(folder), *_examples(folder)]


def _sizes(folder: Path) -> Table:
    table = Table(title="sizes")
    for name in ("task", "counted in"):
        table.add_column(name, overflow="fold")
    for name in ("train", "dev", "test or held out"):
        table.add_column(name, justify="right", overflow="fold")
    rows = {
        ("ner", "sentences"): lambda split: sum(
            1 for _ in statistics.ner_sentences(folder / f"ner/{split}.txt")
        ),
        ("sst5", "trees"): lambda split: len(_lines(folder / f"sst5/{split}.txt")),
        ("snli", "pairs"): lambda split: len(_lines(folder / f"snli/{split}.jsonl")),
        ("squad", "questions"): lambda split: len(statistics.squad_questions(folder, split)),
        ("srl", "propositions"): lambda split: _count(folder / f"srl/{split}.gold_conll", "(V*"),
        ("coref", "documents"): lambda split: _count(
            folder / f"coref/{split}.v4_gold_conll", "#begin"
        ),
    }
    for (task, unit), count in rows.items():
        table.add_row(task, unit, *[f"{count(split):,}" for split in statistics.SPLITS])
    senses = [len(_lines(folder / f"wsd/{split}.jsonl")) for split in ("train", "test")]
    table.add_row("wsd", "occurrences", f"{senses[0]:,}", "", f"{senses[1]:,}")
    counts = [statistics.corpus_counts(folder / f"corpus/{n}.txt") for n in ("train", "heldout")]
    units = ("sentences", "tokens", "different words")
    for unit, train, heldout in zip(units, *counts, strict=True):
        table.add_row("corpus", unit, f"{train:,}", "", f"{heldout:,}")
    return table


def _claims(folder: Path) -> Table:
    table = Table("what", "%", title="ambiguity, novelty, and what the simplest guesses reach")
    table.columns[1].justify = "right"
    rows = {
        "name words of ner/train seen there with several types": statistics.ambiguous_share(
            folder / "ner/train.txt"
        ),
        "names of ner/dev that train never mentions": statistics.unseen_share(folder, "dev"),
        "names of ner/test that train never mentions": statistics.unseen_share(folder, "test"),
        "ner: most frequent type of the word, name words of test": (
            statistics.lookup_tagger_accuracy(folder, "test")
        ),
        "sst5: most frequent label": statistics.majority_share(folder, "sst5"),
        "snli: most frequent label": statistics.majority_share(folder, "snli"),
        "snli: naive Bayes on the hypothesis alone": statistics.hypothesis_only_accuracy(folder),
        "words of the held-out text that have several senses": (
            statistics.polysemous_share(folder)
        ),
        "wsd: most frequent sense": statistics.frequent_sense_accuracy(folder),
        "squad: first name or number of the paragraph": statistics.first_name_accuracy(folder),
    }
    for what, value in rows.items():
        table.add_row(what, f"{100 * value:.1f}")
    missing = statistics.unseen_in_corpus(folder)
    table.add_row("name words of ner/test that the corpus lacks", str(len(missing)))
    return table


def _examples(folder: Path) -> list[Panel]:
    sentence = next(statistics.ner_sentences(folder / "ner/train.txt"))
    pair = statistics.json_lines(folder / "snli/train.jsonl")[0]
    context, question = statistics.squad_questions(folder, "dev")[0]
    answers = " | ".join(dict.fromkeys(answer["text"] for answer in question["answers"]))
    sense = statistics.json_lines(folder / "wsd/train.jsonl")[0]
    texts = {
        "ner": " ".join(word if tag == "O" else f"{word}/{tag}" for word, tag in sentence),
        "sst5": _lines(folder / "sst5/train.txt")[0],
        "snli": f"{pair['sentence1']}\n{pair['sentence2']}\n-> {pair['gold_label']}",
        "squad": f"{context}\n{question['question']}\n-> {answers}",
        "srl": _head(folder / "srl/train.gold_conll"),
        "coref": _head(folder / "coref/train.v4_gold_conll"),
        "wsd": json.dumps(sense, ensure_ascii=False),
        "corpus": "\n".join(_lines(folder / "corpus/heldout.txt")[:5]),
    }
    return [Panel(Text(text), title=task, title_align="left") for task, text in texts.items()]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _count(path: Path, piece: str) -> int:
    return path.read_text(encoding="utf-8").count(piece)


def _head(path: Path) -> str:
    """The first sentence of a CoNLL-2012 file."""
    lines = _lines(path)
    return "\n".join(lines[: lines.index("")])
