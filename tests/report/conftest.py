"""Synthetic records for the tests of tables, figures and the page."""

from pathlib import Path

import pytest

from tests.report.synthetic_records import write_all


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of records for every table and figure."""
    directory = tmp_path_factory.mktemp("runs")
    write_all(directory)
    return directory


@pytest.fixture(scope="session")
def page_text(synthetic: Path) -> str:
    """The report page of some of those records."""
    from elmo_bench.records.run import read_records
    from elmo_bench.report.page.build import build_page

    records = [made for made in read_records(synthetic) if made.task not in ("snli", "srl")]
    return build_page([made for made in records if made.seed != 3], [])
