"""Keep a random sample of a session: `python tests/mutation/sample.py SESSION.sqlite SIZE [SEED]`.

At most one mutant of each place in the source, and none that no test should notice: annotations,
`raise` statements (their texts) and `strict=` of zip.
"""

import ast
import random
import sqlite3
import sys
from collections import defaultdict
from pathlib import Path


def unwatched(path: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Start and end of every stretch of a file that is not to be mutated."""
    nodes: list[ast.AST | None] = []
    for node in ast.walk(ast.parse(Path(path).read_text())):
        nodes += [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Raise) or (isinstance(node, ast.keyword) and node.arg == "strict"):
            nodes.append(node)
    return [((n.lineno, n.col_offset), (n.end_lineno, n.end_col_offset)) for n in nodes if n]


def main(session: str, size: str, seed: str = "1") -> None:
    columns = "module_path, start_pos_row, start_pos_col, operator_name, occurrence, job_id"
    with sqlite3.connect(session) as database:
        rows = sorted(database.execute(f"SELECT {columns} FROM mutation_specs"))
        skip = {path: unwatched(path) for path in {row[0] for row in rows}}
        places = defaultdict(list)
        for path, *place, operator, _, job in rows:
            if not any(start <= tuple(place) < end for start, end in skip[path]):
                places[path, *place, operator.split("_")[0]].append(job)
        draws = random.Random(int(seed))
        kept = [draws.choice(jobs) for jobs in draws.sample(list(places.values()), int(size))]
        for table in ("mutation_specs", "work_items"):
            marks = ", ".join("?" * len(kept))
            database.execute(f"DELETE FROM {table} WHERE job_id NOT IN ({marks})", kept)
    print(f"{len(rows)} mutants at {len(places)} places that count; kept {len(kept)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
