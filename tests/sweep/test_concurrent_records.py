import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from elmo_bench.records.run import Record, read_record, read_records, write_record


def record(seed: int) -> Record:
    return Record(
        run=f"{seed:08x}", task="ner", seed=seed, metric="f1", data="mini", words="random",
        elmo="paper", bilm="mini", config={"seed": seed, "elmo": {}, "bilm": {}},
        scores={"test": {"f1": float(seed)}},
        epochs=[{"epoch": n, "dev/f1": n / 7} for n in range(200)],
    )  # fmt: skip


def write_some(folder: Path, seeds: range) -> int:
    for seed in seeds:
        write_record(record(seed), folder)
        write_record(record(0), folder)  # every process also writes this same run
    return len(seeds)


def read_while_written(folder: Path, seconds: float) -> int:
    """The number of successful reads; a damaged record raises an error."""
    reads, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for path in folder.glob("*.json"):
            read_record(path)
            reads += 1
    return reads


def test_200_concurrent_runs_leave_200_valid_records(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(5, spawn) as pool:
        reading = pool.submit(read_while_written, tmp_path, 3.0)
        shares = [range(start, start + 50) for start in range(0, 200, 50)]
        assert sum(pool.map(write_some, [tmp_path] * 4, shares)) == 200
        assert reading.result() > 0
    assert sorted(read_records(tmp_path), key=lambda r: r.seed) == [record(s) for s in range(200)]
    assert not list(tmp_path.glob(".*"))
