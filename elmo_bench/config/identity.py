"""What settings say about a result, whatever things are called and wherever they lie."""

from collections.abc import Callable
from typing import Any

from elmo_bench.config.fields import INPUT_FILE, LABEL, Settings


def what_counts(settings: Settings, content: Callable[[str], Any]) -> dict[str, Any]:
    """The values that decide what is computed, as plain dicts and lists.

    Args:
        settings: Any settings; fields marked LABEL are left out.
        content: Stands for a file's content; called with each path in fields marked INPUT_FILE.
    """
    values = dict(settings.model_extra or {})
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if field.json_schema_extra == LABEL:
            continue
        if isinstance(value, Settings):
            value = what_counts(value, content)
        elif field.json_schema_extra == INPUT_FILE and value is not None:
            value = [content(path) for path in value] if isinstance(value, list) else content(value)
        values[name] = value
    return values
