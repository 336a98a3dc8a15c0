"""`elmo-bench tune`: search for a task's hyperparameters with Optuna, by the dev score."""

import argparse
import shlex

HELP = "search for a task's hyperparameters within conf/search/TASK.yaml, by the dev score"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="the task, by its short name")
    parser.add_argument(
        "--with", metavar="KEY=VALUE", nargs="+", action="extend", default=[], dest="overrides",
        help="further settings of the runs, as for run.py",
    )  # fmt: skip
    parser.add_argument(
        "--trials",
        type=int,
        default=20,
        help="trials of the study in all; 0 only shows them (default: 20)",
    )
    parser.add_argument(
        "--study",
        metavar="NAME",
        help="its folder in outputs/tune (default: made from task and settings)",
    )


def run(args: argparse.Namespace) -> int:
    from elmo_bench.report.formats import new_console
    from elmo_bench.tune.show import ordered, trial_line, trials_table, write_csv, write_picture
    from elmo_bench.tune.study import Search

    console = new_console()
    search = Search(args.task, args.overrides, args.study)
    while (ended := search.num_ended()) < args.trials:
        line = trial_line(search.run_one())
        console.print(f"[{ended + 1}/{args.trials}] {line}", markup=False, soft_wrap=True)
    if not search.num_ended():
        console.print(f"No trials yet in {search.folder}; --trials N makes some.")
        return 0
    metric = search.settings.task.metric
    console.print(trials_table(search.study, search.space, metric))
    write_csv(search.study, search.space, search.folder / "trials.csv")
    write_picture(search.study, search.space, metric, search.folder / "trials.png")
    console.print(f"{search.folder}: trials.csv, trials.png; the same command continues the study.")
    best = ordered(search.study)[0]
    if best.value is None:
        console.print("No trial was completed.")
        return 1
    command = ["python", "run.py", *search.overrides, *best.user_attrs["overrides"]]
    console.print("The best, with its baseline and the test split:")
    console.print(shlex.join(command), markup=False, soft_wrap=True)
    return 0
