"""All tables by name."""

from collections.abc import Callable, Iterable, Sequence

from elmo_bench.records.analysis import Analysis
from elmo_bench.records.run import Record
from elmo_bench.report.ablations import layers_table, placement_table
from elmo_bench.report.analysis_tables import neighbors_table, scores_table
from elmo_bench.report.cells import Table
from elmo_bench.report.encoder_table import encoder_table
from elmo_bench.report.finetuning_table import finetuning_table
from elmo_bench.report.groups import Runs
from elmo_bench.report.main_table import groups_table, main_table
from elmo_bench.report.names import TABLES
from elmo_bench.report.update_table import update_table
from elmo_bench.report.weight_table import weight_table
from elmo_bench.report.word_table import words_table

OTHERS: dict[str, Callable[[Runs], Table]] = {
    "encoders": encoder_table,
    "updates": update_table,
    "layers": layers_table,
    "placement": placement_table,
    "words": words_table,
    "weights": weight_table,
    "finetuning": finetuning_table,
    "groups": groups_table,
}
OF_ANALYSES: dict[str, Callable[[Sequence[Analysis]], Table]] = {
    "analysis": scores_table,
    "neighbors": neighbors_table,
}


def build_tables(
    records: Iterable[Record],
    analyses: Sequence[Analysis] = (),
    names: Iterable[str] = TABLES,
    tasks: list[str] | None = None,
) -> list[Table]:
    """Build tables from records.

    Args:
        records: The runs to compare.
        analyses: Of layers.
        names: The tables to build.
        tasks: Tasks that get a row in the main table even without runs; None or [] for all.
    """
    runs = Runs(records)

    def build(name: str) -> Table:
        if name == "main":
            return main_table(runs, tasks or None)
        if name in OF_ANALYSES:
            return OF_ANALYSES[name](analyses)
        return OTHERS[name](runs)

    return [build(name) for name in names]
