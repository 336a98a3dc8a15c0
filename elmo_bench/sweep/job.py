"""The file of a sweep's job: what it ran and the results, for the sweep's lines and tables.

Jobs may run in other processes and on other machines; these files are all that they report.
"""

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from elmo_bench.errors import UserError
from elmo_bench.records.atomic import write_text
from elmo_bench.records.reading import checked, read_object

FILE = "job.json"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Part:
    """One run of a job: the baseline or the run with ELMo.

    Args:
        name: The record's file name without the suffix.
        arm: The ELMo option; "none" is the baseline.
        state: done, done before, failed.
        metric: The name of the score.
        scores: By split; empty where there are none.
        error: Why it failed, in one line.
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
        number: Its number in the sweep, from 0.
        overrides: The command line that would run this job alone.
        parts: Its runs in order of execution.
        error: Why the settings were invalid, in one line; there are no parts then.
        seconds: Wall-clock time.
        cpu_seconds: CPU time of its process.
        threads: Threads that torch used; None if nothing was computed.
        gpus: Names of the GPUs that it could see; None: all of its machine.
    """

    number: int
    overrides: list[str]
    parts: list[Part]
    error: str | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    threads: int | None = None
    gpus: str | None = None

    @property
    def errors(self) -> list[str]:
        """Its error messages; empty if it did not fail."""
        errors = [self.error, *(part.error for part in self.parts)]
        return [error for error in errors if error is not None]

    @property
    def state(self) -> str:
        """One of failed, done before (nothing was left to do) and done."""
        if self.errors:
            return "failed"
        return "done before" if all(p.state == "done before" for p in self.parts) else "done"

    def write(self, folder: Path) -> None:
        """Write the file that the sweep reads."""
        write_text(folder / FILE, json.dumps(asdict(self), indent=1) + "\n")


def read_jobs(sweep: Path) -> Iterator[Job]:
    """The jobs of a sweep that have ended so far, by number."""
    jobs = []
    for path in sweep.glob(f"*/{FILE}"):
        try:
            jobs.append(checked(Job, read_object(path), path))
        except UserError as error:
            log.warning("skipped a damaged job: %s", error)
    return iter(sorted(jobs, key=lambda job: job.number))
