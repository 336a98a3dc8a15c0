"""A job of a sweep as a file: what it ran and what came out, for the lines and tables of a sweep.

Jobs may run in other processes and on other machines; these files are all that they send back.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from elmo_bench.records.files import write_text

FILE = "job.json"


@dataclass(frozen=True)
class Part:
    """One run of a job: its baseline, or the run that it is about.

    Args:
        name: The record's file name without its ending.
        arm: The ELMo option; "none" is the baseline.
        state: done, done before, failed; in a plan: done, begun, failed, to do.
        metric: The name of the score.
        scores: By split; empty where there are none.
        error: Why it failed, in a line.
    """

    name: str
    arm: str
    state: str
    metric: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True)
class Job:
    """One job: a config of the sweep with its paired baseline.

    Args:
        number: Its place in the sweep, from 0 on.
        overrides: What the command line of this job alone would be.
        parts: Its runs in the order they were done.
        error: Why not even a run could be named, in a line.
        seconds: Time by the clock.
        cpu_seconds: Time that processors spent on it in its process.
        threads: How many torch used in it; None if there was nothing to compute.
    """

    number: int
    overrides: list[str]
    parts: list[Part]
    error: str | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    threads: int | None = None

    @property
    def errors(self) -> list[str]:
        """Why it failed; empty if it did not."""
        errors = [self.error, *(part.error for part in self.parts)]
        return [error for error in errors if error is not None]

    @property
    def state(self) -> str:
        """In a word: failed, done before (nothing was left to do) or done."""
        if self.errors:
            return "failed"
        return "done before" if all(p.state == "done before" for p in self.parts) else "done"

    def write(self, folder: Path) -> None:
        """Tell the sweep of the job."""
        write_text(folder / FILE, json.dumps(asdict(self), indent=1) + "\n")


def read_jobs(sweep: Path) -> Iterator[Job]:
    """The jobs of a sweep that have ended so far, by number."""
    jobs = []
    for path in sweep.glob(f"*/{FILE}"):
        content = json.loads(path.read_text(encoding="utf-8"))
        parts = [Part(**part) for part in content.pop("parts")]
        jobs.append(Job(parts=parts, **content))
    return iter(sorted(jobs, key=lambda job: job.number))
