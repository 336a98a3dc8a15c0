"""The paper's Tables 4, 5 and 6, from the records of analyses."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from elmo_bench.records.analysis import Analysis
from elmo_bench.report.cells import PAPER, Cell, Table, word
from elmo_bench.report.paper import SOURCE, ablations
from elmo_bench.report.terminal import show
from elmo_bench.report.weights import layer_name

HEAD = {
    "task": "Analysis",
    "metric": "Metric",
    "corpus": "Corpus",
    "bilm": "Encoder",
    "source": "Source",
    "settings": "Method",
}
FREQUENT = ("most frequent", "WordNet first")  # prefixes of the name of the simplest baseline
TOKENS = "context average, token layer"
NEIGHBORS = {
    "task": "Analysis",
    "corpus": "Corpus",
    "bilm": "Encoder",
    "runs": "Records",
    "layer": "Layer",
    "source": "Source",
    "nearest": "Nearest in context",
    "static": "Nearest without context",
}
NARROW_SCORES = ("source", "bilm", "corpus", "static", "context", "frequent", "settings")
NARROW_NEIGHBORS = ("runs", "bilm", "corpus", "layer", "task", "static")
SHOWN = 3  # neighbors per source in the table; the records have all
AROUND = 8  # words shown on either side


def scores_table(analyses: Iterable[Analysis], paper: bool = True) -> Table:
    """Tables 5 and 6: the score of every layer, after the baselines; and the paper's, if wanted."""
    scored = [analysis for analysis in analyses if analysis.metric]
    scored.sort(key=lambda a: (a.analysis, a.data, a.bilm, method_label(a)))
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
        published = ablations("analysis").get(name, {}) if paper else {}
        if published:
            head = {"task": word(name), "corpus": word(PAPER)}
            rows.append(head | {key: _percent(value) for key, value in published.items()})
    rows.sort(key=lambda row: row["task"].text)
    notes = [
        "Scores in percent. wsd: F1; pos: accuracy on all words, and on words unseen in training.",
        "Most frequent: the word's most frequent sense or tag in training, or WordNet's first.",
        "Context: mean of the token layer over the other words of the sentence.",
        "Static: word vectors from a file, averaged over the other words of the sentence (wsd) or "
        "of the word itself (pos)" + "".join(f"; {name}" for name in _static_files(scored)) + ".",
        f"Paper: {SOURCE} (SemCor and four test sets; Penn Treebank).",
    ]
    title = "What the layers know (the paper's Tables 5 and 6)"
    return Table("analysis", title, columns, rows, notes, NARROW_SCORES)


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
    """Yield a row for each metric, the main one first."""
    metrics = sorted(analysis.layers[0], key=lambda name: name != analysis.metric)
    for metric in metrics:
        row = {
            "task": word(analysis.analysis),
            "metric": word(metric),
            "corpus": word(analysis.data),
            "bilm": word(analysis.bilm),
            "source": word(analysis.source),
            "settings": word(method_label(analysis)),
        }
        for name, scores in analysis.baselines.items():
            row[_column(name)] = _percent(scores[metric])
        for layer, scores in enumerate(analysis.layers):
            row[f"layer{layer}"] = _percent(scores[metric])
        yield row


def method_label(analysis: Analysis) -> str:
    """The settings that distinguish an analysis from others of its kind."""
    settings = analysis.settings
    if analysis.analysis == "wsd":
        parts = [f"nearest {settings['nearest']}"]
        parts += ["centered"] if settings["center"] else []
        parts += [f"window {settings['window']}"] if settings["window"] else []
        parts += ["WordNet's first sense"] if "wordnet" in settings.get("files", {}) else []
        return ", ".join(parts)
    limit = settings.get("limit")
    return f"{limit} training sentences" if limit else ""


def show_scores(analyses: list[Analysis], console: Console) -> None:
    """Print analyses of the same data: a row for each method and metric, a column per layer."""
    first = analyses[0]
    tested = f"{first.sizes['test']:,} tested"
    title = f"{first.analysis} on {first.data} ({tested}), encoder {first.bilm}"
    table = scores_table(analyses, paper=False)
    named = {"task", "corpus", "bilm", "source"}  # by the title
    columns = {key: name for key, name in table.columns.items() if key not in named}
    rows = [{key: cell for key, cell in row.items() if key in columns} for row in table.rows]
    notes = [f"{_column(name).capitalize()}: {name}." for name in first.baselines]
    show(replace(table, title=title, columns=columns, rows=rows, notes=notes), console)


def neighbors_table(analyses: Iterable[Analysis]) -> Table:
    """Table 4: a word in a sentence, and the sentences that use it most similarly."""
    found = [analysis for analysis in analyses if "neighbors" in analysis.examples]
    rows = [
        {
            "task": word(analysis.analysis),
            "corpus": word(analysis.data),
            "bilm": word(analysis.bilm),
            "layer": word(layer_name(asked["layer"])),
            "source": word(in_context(asked["sentence"], asked["position"])),
            "runs": word(analysis.source),
            "nearest": word(" | ".join(_nearest(analysis.examples["neighbors"][:SHOWN]))),
            "static": word(", ".join(name for name, _ in analysis.examples["static"])),
        }
        for analysis in found
        for asked in [analysis.settings]
    ]
    notes = ["The word is in brackets; the number before each sentence is the cosine similarity."]
    title = "Nearest neighbors in context (the paper's Table 4)"
    return Table("neighbors", title, NEIGHBORS, rows, notes, NARROW_NEIGHBORS)


def _nearest(neighbors: list[dict[str, Any]]) -> Iterator[str]:
    for neighbor in neighbors:
        yield f"{neighbor['similarity']:.2f} {in_context(neighbor['tokens'], neighbor['position'])}"


def in_context(tokens: Sequence[str], position: int, around: int = AROUND) -> str:
    """The words around one, which is in brackets."""
    start, end = max(0, position - around), position + around + 1
    words = [*tokens[start:position], f"[{tokens[position]}]", *tokens[position + 1 : end]]
    return " ".join(["…"] * (start > 0) + words + ["…"] * (end < len(tokens)))
