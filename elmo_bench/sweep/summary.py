"""The terminal output of a sweep: a line per job, and tables."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from elmo_bench.records.run import read_record
from elmo_bench.records.visible import visible
from elmo_bench.report.all_tables import build_tables
from elmo_bench.report.cells import Cell, Table, word
from elmo_bench.report.terminal import show
from elmo_bench.sweep.job import Job, Part


def show_line(job: Job, labels: Sequence[str], rank: int, console: Console) -> None:
    """Report in one line that a job has ended, as the `rank`-th of all."""
    width = len(str(len(labels)))
    outcome = job.errors[0] if job.errors else ", ".join(map(_score, job.parts))
    line = f"[{rank:{width}}/{len(labels)}] {labels[job.number]}: {job.state}, {outcome}"
    style = "red" if job.errors else ""
    console.print(Text(visible(f"{line} ({job.seconds:.0f} s)")), style=style, soft_wrap=True)


def _score(part: Part) -> str:
    scores = ", ".join(f"{split} {score:.2f}" for split, score in part.scores.items())
    return f"{'baseline' if part.arm == 'none' else part.arm} {scores} {part.metric}"


def show_jobs(jobs: Sequence[Job], labels: Sequence[str], folder: Path, console: Console) -> None:
    """Show all jobs in a table, and how many of them failed or are missing."""
    num_jobs = len(labels)
    show(_jobs_table(jobs, labels), console)
    failed = [job for job in jobs if job.errors]
    for job in failed:
        for error in job.errors:
            line = Text(visible(f"#{job.number} failed: {error}"))
            console.print(line, style="red", soft_wrap=True)
    if failed:
        console.print(f"{len(failed)} of {num_jobs} jobs failed; see {folder}/*/error.txt.")
    if len(jobs) < num_jobs:
        console.print(f"{num_jobs - len(jobs)} of {num_jobs} jobs did not finish.")
    if failed or len(jobs) < num_jobs:
        console.print("Run the same command again to do what is missing.")


def _jobs_table(jobs: Sequence[Job], labels: Sequence[str]) -> Table:
    rows = [
        {
            "number": Cell(str(job.number), {"": job.number}),
            "job": word(labels[job.number]),
            "state": word(job.state),
            "baseline": word(_test(job, baseline=True)),
            "elmo": word(_test(job, baseline=False)),
            "seconds": Cell(f"{job.seconds:.0f}", {"": job.seconds}),
        }
        for job in jobs
    ]
    columns = {
        "number": "#", "job": "job", "state": "state", "baseline": "baseline test",
        "elmo": "+ELMo test", "seconds": "s",
    }  # fmt: skip
    return Table("jobs", "Jobs", columns, rows, narrow=("seconds", "number"))


def _test(job: Job, baseline: bool) -> str:
    """The test score of one arm of a job."""
    chosen = [part for part in job.parts if (part.arm == "none") is baseline and part.scores]
    return ", ".join(f"{part.scores['test']:.2f}" for part in chosen)


def show_tables(
    jobs: Sequence[Job], results: Path, tables: Sequence[str], console: Console
) -> None:
    """Show tables of the records that the jobs wrote or found."""
    names = dict.fromkeys(part.name for job in jobs for part in job.parts if part.scores)
    records = [read_record(results / f"{name}.json") for name in names]
    if records:
        tasks = sorted({record.task for record in records})
        for table in build_tables(records, names=tables, tasks=tasks):
            show(table, console)
