"""What is wrong with a composed config, told before anything heavy is imported."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from elmo_bench.config.compose import CONF, ConfigError, read_option


@dataclass(frozen=True)
class Allowed:
    """The values a key may have, as a test and in words."""

    words: str
    holds: Callable[[Any], bool]


def one_of(*values: Any) -> Allowed:
    """One of a few values."""
    return Allowed(
        "one of " + ", ".join("null" if value is None else str(value) for value in values),
        lambda value: any(value is known or value == known for known in values),
    )


def whole(low: int) -> Allowed:
    """A whole number from `low` on."""
    return Allowed(
        f"a whole number from {low} on",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= low,
    )


def number(low: float, high: float = float("inf"), *, open_low: bool = False) -> Allowed:
    """A number in a range."""
    words = f"a number {'above' if open_low else 'from'} {low:g}"
    return Allowed(
        words + ("" if high == float("inf") else f" to {high:g}"),
        lambda value: (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and (low < value if open_low else low <= value)
            and value <= high
        ),
    )


def or_null(allowed: Allowed) -> Allowed:
    """Null, or what is allowed otherwise."""
    return Allowed(f"{allowed.words}, or null", lambda value: value is None or allowed.holds(value))


FLAG = one_of(True, False)
SHARE = number(0.0, 1.0)

# Keys whose values can be told wrong by looking at them. A key that a config lacks is passed over.
RULES: dict[str, Allowed] = {
    "seed": whole(0),
    "features": one_of("cache", "online"),
    "cache_dtype": one_of("float32", "float16", "bfloat16"),
    "baseline": one_of("auto", "skip"),
    "force": FLAG,
    "dry_run": FLAG,
    "trainer.accelerator": one_of("auto", "cpu", "gpu", "cuda", "mps", "tpu"),
    "trainer.threads": or_null(whole(1)),
    "trainer.progress_bar": FLAG,
    "logger.mode": one_of("auto", "online", "offline"),
    "data.train_limit": or_null(whole(1)),
    "data.train_fraction": number(0.0, 1.0, open_low=True),
    "bilm.finetune": FLAG,
    "elmo.layers": one_of("all", "last", "first", "token"),
    "elmo.dropout": SHARE,
    "elmo.l2": number(0.0),
    "elmo.layer_norm": one_of(None, "batch", "token"),
    "words.trainable": FLAG,
    "words.dim": whole(1),
    "task.training.batch_size": whole(1),
    "task.training.max_epochs": whole(1),
    "task.training.patience": whole(1),
    "task.training.ema": or_null(SHARE),
}


def check(cfg: DictConfig, rules: Mapping[str, Allowed] = RULES, main: str = "run") -> None:
    """Raise a ConfigError for the first unknown key or impossible value.

    Args:
        cfg: A composed config.
        rules: What single keys may hold.
        main: The file in conf/ that the config was composed from.
    """
    for key in unknown_keys(cfg, main):
        raise ConfigError(unknown_key_message(key, cfg))
    for key, allowed in rules.items():
        value = OmegaConf.select(cfg, key, default=_ABSENT)
        if value is not _ABSENT and not allowed.holds(value):
            shown = "null" if value is None else value
            raise ConfigError(f"{key}={shown}: allowed is {allowed.words}")
    if main == "run" and cfg.elmo.name == cfg.words.name == "none":
        raise ConfigError("elmo=none words=none: the model would have nothing to read")


_ABSENT = object()


def unknown_keys(cfg: DictConfig, main: str) -> Iterator[str]:
    """Keys that no yaml file of the chosen options has: a typo after a +, or in an overlay."""
    known_top = set(_yaml(CONF / f"{main}.yaml")) | {path.name for path in CONF.iterdir()}
    for key, value in cfg.items_ex(resolve=False):
        if key not in known_top:
            yield str(key)
        elif isinstance(value, DictConfig) and "name" in value:
            path = CONF / str(key) / f"{value['name']}.yaml"
            if path.exists():
                yield from _unknown_below(value, _yaml(path), str(key))


def _unknown_below(node: DictConfig, known: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, value in node.items_ex(resolve=False):
        key = str(name)
        path = f"{prefix}.{key}"
        below = known.get(key, _ABSENT)
        if below is _ABSENT:
            # What a _target_ takes is its own affair: optimizers have options that no yaml names.
            if "_target_" not in known or prefix.endswith(".build"):
                yield path
        elif isinstance(value, DictConfig) and isinstance(below, Mapping) and below:
            yield from _unknown_below(value, below, path)


def unknown_key_message(key: str, cfg: DictConfig) -> str:
    """Say that a key does not exist, and which ones do at its place."""
    parent, _, name = key.rpartition(".")
    node = OmegaConf.select(cfg, parent) if parent else cfg
    siblings = [str(k) for k in node if str(k) != name] if isinstance(node, DictConfig) else []
    close = difflib.get_close_matches(name, siblings, n=1)
    hint = f"; did you mean {parent + '.' if parent else ''}{close[0]}?" if close else "."
    value = OmegaConf.select(cfg, key)
    shown = f"={value}" if value is not None and not isinstance(value, DictConfig) else ""
    place = f"under {parent}" if parent else "at the top"
    return f"{key}{shown}: there is no such key{hint} Known {place}: {', '.join(sorted(siblings))}"


@cache
def _yaml(path: Path) -> dict[str, Any]:
    content = OmegaConf.to_container(read_option(path), resolve=False)
    assert isinstance(content, dict)
    return {str(key): value for key, value in content.items()}
