"""The report: one self-contained HTML page of tables, figures and runs."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from elmo_bench.records.analysis import Analysis
from elmo_bench.records.run import Record
from elmo_bench.report.all_tables import build_tables
from elmo_bench.report.cells import Table
from elmo_bench.report.differences import differences as differing_settings
from elmo_bench.report.figures.all_figures import figures
from elmo_bench.report.figures.style import styled
from elmo_bench.report.formats import all_notes, is_numeric
from elmo_bench.report.groups import Group, Runs
from elmo_bench.report.label_tables import label_tables
from elmo_bench.report.page.drawing import curve, inline_figure
from elmo_bench.report.page.examples import Differences, differences
from elmo_bench.report.paper import title
from elmo_bench.report.weights import layer_name

HERE = Path(__file__).parent
MATRIX = 30  # labels of the largest confusion matrix on the page
CAPTIONS = {
    "gains": "Test gains over the baseline, next to the paper's.",
    "layer-weights": "Learned layer weights over training.",
    "learning-curves": "Dev scores over training, with and without ELMo.",
    "sample-efficiency": "Test scores by fraction of the training data.",
    "analysis": "What each layer knows about word senses and parts of speech.",
}


@dataclass(frozen=True)
class RunView:
    """A run ready for the page."""

    record: Record
    anchor: str
    arm: str
    settings: str
    curve: Markup
    weights: list[tuple[str, str, float, float]]  # placement, layer, weight, gamma
    labels: list[Table]
    differences: Differences | None
    config: str
    environment: str

    @property
    def score(self) -> float | None:
        """The test score shown in tables."""
        return self.record.scores.get("test", {}).get(self.record.metric)


def build_page(records: list[Record], analyses: list[Analysis]) -> str:
    """Build the page of some runs and analyses."""
    runs = Runs(records)
    script = (HERE / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page = environment.from_string((HERE / "page.html").read_text(encoding="utf-8"))
    return page.render(
        # Both files are ours. Only this script may run: the page's policy allows only its hash.
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=digest,
        tables=build_tables(records, analyses),
        notes=all_notes,
        is_numeric=is_numeric,
        figures=list(_figures(runs, analyses)),
        runs=list(_runs(runs)),
        failed=sum(record.error is not None for record in records),
        sources=Counter(record.source for record in records),
        tasks={task: title(task) for task in runs.tasks},
    )


def _figures(runs: Runs, analyses: list[Analysis]) -> Iterator[dict[str, Any]]:
    """Yield the figures for which there are runs."""
    with styled():
        for name, draw in figures(runs, analyses):
            try:
                figure = draw()
            except ValueError:
                continue
            yield {
                "name": name,
                "caption": CAPTIONS[name],
                "svg": inline_figure(figure, name, CAPTIONS[name]),
            }


def _runs(runs: Runs) -> Iterator[RunView]:
    for group, settings in zip(runs.all_groups, differing_settings(runs.all_groups), strict=True):
        partners = _by_seed(runs.baseline(group))
        for record in (*group.records, *group.failed):
            baseline = None if group.is_baseline else partners.get(record.seed)
            yield RunView(
                record=record,
                anchor=f"run-{record.source}-{record.run}-{record.seed}",
                arm="baseline" if group.is_baseline else f"ELMo {record.elmo}, {group.bilm}",
                settings=settings,
                curve=curve(record, baseline),
                weights=list(_weights(record)),
                labels=list(label_tables(record, baseline, MATRIX)),
                differences=differences(baseline, record) if baseline else None,
                config=json.dumps(record.config, indent=1, ensure_ascii=False),
                environment=json.dumps(record.environment, indent=1, ensure_ascii=False),
            )


def _by_seed(group: Group | None) -> dict[int, Record]:
    return {record.seed: record for record in group.records} if group else {}


def _weights(record: Record) -> Iterator[tuple[str, str, float, float]]:
    for placement, learned in record.layer_weights.items():
        weights = learned["weights"]
        for layer, weight in zip(learned.get("layers", range(len(weights))), weights, strict=True):
            yield placement, layer_name(layer), weight, learned["gamma"]
