"""The paper's Table 7, extended: ELMo with different kinds of static word vectors."""

from collections import defaultdict

from elmo_bench.config.folders import CONF
from elmo_bench.report.ablations import NOTES, Cells, dev_scores, head
from elmo_bench.report.cells import PAPER, Cell, Table, missing, number, word
from elmo_bench.report.groups import Group, Runs, with_most_data
from elmo_bench.report.headline import headline_groups
from elmo_bench.report.paper import ablations
from elmo_bench.report.run_command import options, run_command

HEAD = {
    "task": "Task",
    "metric": "Metric",
    "corpus": "Corpus",
    "arm": "Model",
    "bilm": "Encoder",
    "source": "Source",
}
ARMS = {"baseline": "no ELMo", "token": "token layer only", "all": "+ELMo"}


def words_table(runs: Runs) -> Table:
    """Table 7, extended: a row for each use of ELMo, a column for each kind of word vectors."""
    known = _kinds()
    families: dict[str, Cells] = defaultdict(lambda: defaultdict(list))
    mixing = headline_groups(runs)
    for group in with_most_data(runs.groups):
        if _arm(group) in ("baseline", "token") or group in mixing:
            families[group.key("words")][group.any_record.words].append(group)
    names = list(dict.fromkeys([*known, *(name for cells in families.values() for name in cells)]))
    by_task: dict[str, list[Cells]] = defaultdict(list)
    for cells in families.values():
        by_task[next(iter(cells.values()))[0].task].append(cells)
    rows: list[dict[str, Cell]] = []
    for task, chosen in sorted(by_task.items()):
        for cells in sorted(chosen, key=_arm_order):
            # The untrained control is shown only if it was run with several kinds of vectors.
            if len(cells) > 1 or not next(iter(cells.values()))[0].is_untrained:
                rows.append(_words_row(cells, known))
        for arm, published in ablations("words").get(task, {}).items():
            numbers = {f"words_{name}": number(value) for name, value in published.items()}
            head_cells = {"task": word(task), "corpus": word(PAPER), "arm": word(ARMS[arm])}
            rows.append(head_cells | numbers)
            names = list(dict.fromkeys([*names, *published]))
    columns = HEAD | {f"words_{name}": f"words={name}" for name in names}
    title = "ELMo with static word vectors (the paper's Table 7)"
    return Table("words", title, columns, rows, [*NOTES[:1], *NOTES[2:]])


def _kinds() -> list[str]:
    """The kinds of word vectors; other options are one of them with its files, as glove_open is."""
    texts = {name: (CONF / "words" / f"{name}.yaml").read_text() for name in options("words")}
    return [name for name, text in texts.items() if f"\nname: {name}\n" in text]


def _arm(group: Group) -> str:
    if group.is_baseline:
        return "baseline"
    return "token" if group.config["elmo"].get("layers") == "token" else "all"


def _arm_order(cells: Cells) -> tuple[str, int, str]:
    group = next(iter(cells.values()))[0]
    return group.corpus, list(ARMS).index(_arm(group)), group.bilm


def _words_row(cells: Cells, known: list[str]) -> dict[str, Cell]:
    group = next(iter(cells.values()))[0]
    row = head(group) | {"arm": word(ARMS[_arm(group)]), "words": Cell()}
    for name in dict.fromkeys([*known, *cells]):
        if name in cells:
            row[f"words_{name}"] = dev_scores(cells[name])
        elif not (group.is_baseline and name == "none"):  # a model needs some input
            row[f"words_{name}"] = missing(run_command(group, {"words": name}))
    return row
