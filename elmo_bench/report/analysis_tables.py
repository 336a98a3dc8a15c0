"""The paper's Tables 4, 5 and 6 for the analyses at hand."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from elmo_bench.records.analysis import Analysis
from elmo_bench.report.cells import PAPER, Cell, Table, word
from elmo_bench.report.paper import SOURCE, ablations
from elmo_bench.report.weights import layer_name

HEAD = {
    "task": "Analysis",
    "metric": "Metric",
    "corpus": "Corpus",
    "bilm": "biLM",
    "settings": "Method",
}
FREQUENT = ("most frequent", "WordNet first")  # how the name of the simplest baseline starts
TOKENS = "context average, token layer"
NEIGHBORS = {
    "task": "Analysis",
    "corpus": "Corpus",
    "bilm": "biLM",
    "layer": "Layer",
    "source": "Source",
    "nearest": "Nearest in context",
    "static": "Nearest without context",
}
SHOWN = 3  # neighbors of a source in the table; the files have all
AROUND = 8  # words shown on either side


def folder_of(runs: Path) -> Path:
    """Where the analyses lie: beside the folder of runs."""
    return runs.parent / "analysis"


def scores_table(analyses: Iterable[Analysis]) -> Table:
    """Tables 5 and 6: a score for every layer, the baselines before them."""
    scored = [analysis for analysis in analyses if analysis.metric]
    scored.sort(key=lambda a: (a.analysis, a.data, a.bilm, method_words(a)))
    depth = max((len(analysis.layers) for analysis in scored), default=0)
    columns = {
        **HEAD,
        "frequent": "Most frequent",
        "context": "Context",
        "static": "Static",
        **{f"layer{layer}": layer_name(layer) for layer in range(depth)},
    }
    rows = [row for analysis in scored for row in _score_rows(analysis)]
    for name in dict.fromkeys(analysis.analysis for analysis in scored):
        published = ablations("analysis").get(name, {})
        paper = {"task": word(name), "corpus": word(PAPER)}
        rows.append(paper | {key: _percent(value) for key, value in published.items()})
    rows.sort(key=lambda row: row["task"].text)
    notes = [
        "Scores in percent. wsd: F1; pos: accuracy, of all words and of those unseen in training.",
        "Most frequent: the word's most frequent sense or tag in training, or WordNet's first.",
        "Context: the token layer's mean over the other words of the sentence.",
        "Static: vectors of a file; their mean over the other words (wsd), the word's own (pos)"
        + "".join(f"; {name}" for name in _static_files(scored))
        + ".",
        f"Paper: {SOURCE} (SemCor and four test sets; Penn Treebank).",
    ]
    return Table("analysis", "What the layers know (Tables 5 and 6)", columns, rows, notes)


def _percent(value: float) -> Cell:
    return Cell(f"{value:.1f}", {"": value})


def _column(baseline: str) -> str:
    if baseline.startswith(FREQUENT):
        return "frequent"
    return "context" if baseline == TOKENS else "static"


def _static_files(analyses: Iterable[Analysis]) -> list[str]:
    names = (name for a in analyses for name in a.baselines if _column(name) == "static")
    return list(dict.fromkeys(name.partition(", ")[2] for name in names))


def _score_rows(analysis: Analysis) -> Iterator[dict[str, Cell]]:
    """A row for each metric, the main one first."""
    metrics = sorted(analysis.layers[0], key=lambda name: name != analysis.metric)
    for metric in metrics:
        row = {
            "task": word(analysis.analysis),
            "metric": word(metric),
            "corpus": word(analysis.data),
            "bilm": word(analysis.bilm),
            "settings": word(method_words(analysis)),
        }
        for name, scores in analysis.baselines.items():
            row[_column(name)] = _percent(scores[metric])
        for layer, scores in enumerate(analysis.layers):
            row[f"layer{layer}"] = _percent(scores[metric])
        yield row


def method_words(analysis: Analysis) -> str:
    """What sets an analysis apart from others of its kind, in words."""
    settings = analysis.settings
    if analysis.analysis == "wsd":
        parts = [f"nearest {settings['nearest']}"]
        parts += ["centerd"] if settings["center"] else []
        parts += [f"window {settings['window']}"] if settings["window"] else []
        return ", ".join(parts)
    limit = settings.get("limit")
    return f"{limit} training sentences" if limit else ""


def show_scores(analyses: list[Analysis], console: Console) -> None:
    """Print analyses of the same data side by side, baselines and layers from top to bottom."""
    first = analyses[0]
    title = f"{first.analysis} on {first.data} ({first.sizes['test']:,} tested), biLM {first.bilm}"
    table = RichTable("", title=title, title_justify="left")
    columns = [(a, metric) for a in analyses for metric in first.layers[0]]
    for analysis, metric in columns:
        parts = [metric, *filter(None, method_words(analysis).split(", "))]
        table.add_column("\n".join(parts), justify="right")
    for name in first.baselines:
        table.add_row(name, *(f"{a.baselines[name][m]:.1f}" for a, m in columns), style="dim")
    table.add_section()
    for layer in range(len(first.layers)):
        table.add_row(layer_name(layer), *(f"{a.layers[layer][m]:.1f}" for a, m in columns))
    console.print(table)


def neighbors_table(analyses: Iterable[Analysis]) -> Table:
    """Table 4: a word in a sentence, and where it is used alike."""
    found = [analysis for analysis in analyses if "neighbors" in analysis.examples]
    rows = [
        {
            "task": word(analysis.analysis),
            "corpus": word(analysis.data),
            "bilm": word(analysis.bilm),
            "layer": word(layer_name(analysis.settings["layer"])),
            "source": word(_context(analysis.settings["sentence"], analysis.settings["position"])),
            "nearest": word(" | ".join(_nearest(analysis.examples["neighbors"][:SHOWN]))),
            "static": word(", ".join(name for name, _ in analysis.examples["static"])),
        }
        for analysis in found
    ]
    notes = ["The word is in brackets; the cosine stands before each sentence."]
    return Table("neighbors", "Nearest neighbors in context (Table 4)", NEIGHBORS, rows, notes)


def _nearest(neighbors: list[dict[str, Any]]) -> Iterator[str]:
    for neighbor in neighbors:
        yield f"{neighbor['similarity']:.2f} {_context(neighbor['tokens'], neighbor['position'])}"


def _context(tokens: list[str], position: int) -> str:
    start, end = max(0, position - AROUND), position + AROUND + 1
    words = [*tokens[start:position], f"[{tokens[position]}]", *tokens[position + 1 : end]]
    return " ".join(["…"] * (start > 0) + words + ["…"] * (end < len(tokens)))
