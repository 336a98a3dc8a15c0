"""Table 7 and beyond: what context adds to more text, and subwords to both."""

from collections import defaultdict

from elmo_bench.report.ablations import NOTES, Cells, filled, head
from elmo_bench.report.cells import PAPER, Cell, Table, missing, number, word
from elmo_bench.report.groups import Group, Runs, key_of, with_most_data
from elmo_bench.report.paper import ablations
from elmo_bench.report.run_command import options_of, run_command, with_words
from elmo_bench.report.tables import headline_groups

HEAD = {"task": "Task", "metric": "Metric", "corpus": "Corpus", "arm": "Arm", "bilm": "biLM"}
ARMS = {"baseline": "no ELMo", "token": "token layer only", "all": "+ELMo"}


def words_table(runs: Runs) -> Table:
    """Table 7 and beyond: context against more text. Arms down, static words across."""
    options = options_of("words")
    families: dict[str, Cells] = defaultdict(lambda: defaultdict(list))
    mixing = headline_groups(runs)
    for group in with_most_data(runs.groups):
        if _arm(group) in ("baseline", "token") or group in mixing:
            # A baseline has a biLM only for the sake of its words, so it is a part of them.
            without = ("words", "fingerprint", *(["bilm"] if group.is_baseline else []))
            families[key_of(group.config, *without)][group.any_record.words].append(group)
    names = list(
        dict.fromkeys([*options, *(name for cells in families.values() for name in cells)])
    )
    by_task: dict[str, list[Cells]] = defaultdict(list)
    for cells in families.values():
        by_task[next(iter(cells.values()))[0].task].append(cells)
    rows: list[dict[str, Cell]] = []
    for task, chosen in sorted(by_task.items()):
        for cells in sorted(chosen, key=_arm_order):
            # The control belongs here only where it was run with several kinds of words.
            if len(cells) > 1 or not next(iter(cells.values()))[0].is_untrained:
                rows.append(_words_row(cells, options))
        for arm, published in ablations("words").get(task, {}).items():
            numbers = {f"words_{name}": number(value) for name, value in published.items()}
            head_cells = {"task": word(task), "corpus": word(PAPER), "arm": word(ARMS[arm])}
            rows.append(head_cells | numbers)
            names = list(dict.fromkeys([*names, *published]))
    columns = HEAD | {f"words_{name}": f"words={name}" for name in names}
    title = "Context against more text (the paper's Table 7)"
    return Table("words", title, columns, rows, [*NOTES[:1], *NOTES[2:]])


def _arm(group: Group) -> str:
    if group.is_baseline:
        return "baseline"
    return "token" if group.config["elmo"].get("layers") == "token" else "all"


def _arm_order(cells: Cells) -> tuple[str, int, str]:
    group = next(iter(cells.values()))[0]
    return group.corpus, list(ARMS).index(_arm(group)), group.bilm


def _words_row(cells: Cells, options: list[str]) -> dict[str, Cell]:
    group = next(iter(cells.values()))[0]
    row = head(group) | {"arm": word(ARMS[_arm(group)]), "words": Cell()}
    for name in dict.fromkeys([*options, *cells]):
        if name in cells:
            row[f"words_{name}"] = filled(cells[name])
        elif not (group.is_baseline and name == "none"):  # a model must read something
            command = run_command(with_words(group.config, name), group.seeds)
            row[f"words_{name}"] = missing(command)
    return row
