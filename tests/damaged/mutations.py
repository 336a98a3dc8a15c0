"""Ways to damage a file: bytes, characters, and values of JSON and YAML."""

import json
import random
from collections.abc import Callable
from typing import Any

import yaml

DEEP = 100_000  # brackets; more than any parser nests
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**30, 1e9, 0.5, 1e308, -0.0,
    float("nan"), float("inf"), "", "x", "1", "nan", "é\u202e", "\x1b[31m", "[red]", "$\\frac{$",
    "<b>", "a\nb", "../../../etc/passwd", "x" * 5000, [], {}, [[]], [None], {"": {}}, {"a": [1]},
    [1, 2, 3], [[1, 2], [3, 4]], ["a", "b"], {"_target_": "os.system", "command": "true"},
    {"kind": "text", "name": "x", "path": "/etc/passwd"}, "\ud800", "elmo_bench.tasks.ner.task.X",
]  # fmt: skip


def mutate_bytes(content: bytes, rng: random.Random) -> bytes:
    """Change, drop, insert, repeat or exchange some bytes, or cut the file off."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5))):
        start = rng.randrange(len(data) + 1) if data else 0
        end = min(len(data), start + rng.choice((1, 1, 2, 8, 100)))
        match rng.randrange(6):
            case 0:
                del data[start:]
            case 1:
                del data[start:end]
            case 2:
                data[start:start] = rng.randbytes(rng.choice((1, 4, 50)))
            case 3:
                data[start:start] = data[start:end] * rng.choice((1, 3))
            case _:
                data[start:end] = rng.randbytes(end - start)
    return bytes(data)


def mutate_json(content: bytes, rng: random.Random) -> bytes:
    """Replace, drop, add or exchange values of a JSON file."""
    if rng.random() < 0.02:
        return b"[" * DEEP
    changed = _changed(json.loads(content), rng)
    return json.dumps(changed).encode()


def mutate_json_lines(content: bytes, rng: random.Random) -> bytes:
    """The same in one line of a file of JSON values."""
    lines = content.splitlines()
    number = rng.randrange(len(lines))
    lines[number] = mutate_json(lines[number], rng)
    return b"\n".join(lines) + b"\n"


def mutate_header(content: bytes, rng: random.Random) -> bytes:
    """The same in the header of a safetensors file."""
    size = int.from_bytes(content[:8], "little")
    header = mutate_json(content[8 : 8 + size], rng)
    return len(header).to_bytes(8, "little") + header + content[8 + size :]


def mutate_yaml(content: bytes, rng: random.Random) -> bytes:
    """The same for YAML, and what only YAML has: anchors, tags and interpolations."""
    changed = _changed(yaml.safe_load(content), rng)
    text = yaml.dump(changed, allow_unicode=True)
    odd = ("!!python/object/apply:os.system [true]", "${oc.env:HOME}", "???", "&a [*a]", "1e400")
    if rng.random() < 0.2 and isinstance(changed, dict) and changed:
        text += f"{rng.choice([*map(str, changed), 'new'])}: {rng.choice(odd)}\n"
    return text.encode("utf-8", errors="surrogatepass")


def _changed(value: Any, rng: random.Random) -> Any:
    """The value with one to three of its parts changed."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        value = _changed_once(value, rng)
    return value


def _changed_once(value: Any, rng: random.Random) -> Any:
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return rng.choice(VALUES)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, other = rng.choice(keys), rng.choice(keys)
    changed = value.copy()
    match rng.randrange(8):
        case 0:
            del changed[key]
        case 1 if isinstance(changed, dict):
            changed[rng.choice(("new", "version", "_target_", "", "\x1b[2J"))] = rng.choice(VALUES)
        case 1:
            changed += rng.choice(([None], changed))
        case 2:
            changed[key], changed[other] = changed[other], changed[key]
        case _:
            changed[key] = _changed_once(changed[key], rng)
    return changed


Mutation = Callable[[bytes, random.Random], bytes]
