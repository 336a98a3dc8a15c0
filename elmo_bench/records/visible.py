"""Text from files, safe to print: a terminal shows its control characters and obeys none."""

import logging


def visible(text: str) -> str:
    """Text whose control characters are spelled out, except line ends."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text
    )


class VisibleFormatter(logging.Formatter):
    """Messages of the log, which may name files and quote them."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))
