"""The table at the end of the campaign: what was tried, and how much of it held."""

from collections import Counter

import pytest

_tried: Counter[str] = Counter()


class Tally:
    """Counts what a test tried and found to hold, by what it was."""

    def held(self, what: str, times: int = 1) -> None:
        """Count something that was tried and held."""
        _tried[what] += times


@pytest.fixture
def tally() -> Tally:
    """Counts for the table."""
    return Tally()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table."""
    if _tried:
        terminalreporter.section("tried and held")
        for what, count in sorted(_tried.items()):
            terminalreporter.write_line(f"{count:7,}  {what}")
        kills = sum(count for what, count in _tried.items() if what.startswith("kill"))
        terminalreporter.write_line(f"{kills:7,}  kills in all")
