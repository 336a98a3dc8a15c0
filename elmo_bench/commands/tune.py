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
    from elmo_bench.records.visible import visible
    from elmo_bench.report.terminal import new_console, show
    from elmo_bench.tune.show import (
        num_ended,
        ordered,
        trial_line,
        trials_table,
        write_csv,
        write_picture,
    )
    from elmo_bench.tune.study import Search

    console = new_console()
    search = Search(args.task, args.overrides, args.study)
    while (trial := search.run_one(args.trials)) is not None:
        count = f"[{num_ended(search.trials())}/{args.trials}]"
        console.print(visible(f"{count} {trial_line(trial)}"), markup=False, soft_wrap=True)
    trials = search.trials()
    if len(trials) < args.trials:
        console.print(f"Every combination of conf/search/{args.task}.yaml was tried.")
    if running := len(trials) - num_ended(trials):
        console.print(f"Trials that have not ended yet: {running}.")
    if running == len(trials):
        console.print(f"No trial has ended in {search.folder}; --trials N makes some.")
        return 0
    metric = search.settings.task.metric
    show(trials_table(trials, search.space, metric), console)
    write_csv(trials, search.space, search.folder / "trials.csv")
    write_picture(trials, search.space, metric, search.folder / "trials.png")
    console.print(f"{search.folder}: trials.csv, trials.png; the same command continues the study.")
    best = ordered(trials)[0]
    if best.value is None:
        console.print("No trial was completed.")
        return 1
    command = ["python", "run.py", *search.overrides, *best.user_attrs["overrides"]]
    console.print("The best, with its baseline and the test split:")
    console.print(shlex.join(command), markup=False, soft_wrap=True)
    return 0
