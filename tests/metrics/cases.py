"""Recorded cases of the official scorers."""

import json
from pathlib import Path
from typing import Any

from tests.conftest import shared

METRICS = ("coref", "ner", "squad", "srl")
ORIGINS = ("by hand", "from corpora")  # in this repository; next to the checkout, if they are there


def official_cases(metric: str, origin: str) -> list[dict[str, Any]]:
    """The cases of a metric; the test is skipped if those cut from corpora are absent."""
    folder = Path(__file__).parent / "oracles" if origin == "by hand" else shared("oracles")
    lines = (folder / f"{metric}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
