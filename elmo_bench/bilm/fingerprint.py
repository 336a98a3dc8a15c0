"""The fingerprint of a biLM on disk, remembered until its files change; imports no torch."""

from pathlib import Path

from elmo_bench.bilm.download import published_paths, published_settings
from elmo_bench.config.bilm_settings import BilmSettings
from elmo_bench.config.folders import find_bilm
from elmo_bench.records.remembered import remembered


def stored_fingerprint(name: str | Path, memory: Path) -> str | None:
    """The fingerprint of what `BiLm.load(name)` would load; None if it does not exist.

    Args:
        name: A checkpoint folder, or a name of one.
        memory: Where fingerprints are remembered.
    """
    if settings := published_settings(str(name)):
        return published_fingerprint(settings, memory)
    try:
        folder = find_bilm(name)
    except FileNotFoundError:
        folder = Path(name).expanduser()
    # Of an official model, options.json and the weights.
    files = sorted(path for path in folder.glob("*") if path.suffix in _RELEVANT)

    def load() -> str:
        from elmo_bench.bilm.model import BiLm

        return BiLm.load(name).fingerprint()

    return remembered("fingerprint", files, memory, load) if files else None


_RELEVANT = {".yaml", ".safetensors", ".txt", ".json", ".hdf5"}


def published_fingerprint(settings: BilmSettings, memory: Path) -> str | None:
    """The fingerprint of a published model; None if it was not downloaded yet."""
    files = published_paths(settings)

    def load() -> str:
        from elmo_bench.bilm.model import BiLm

        return BiLm.load_published(settings).fingerprint()

    exist = all(path.exists() for path in files)
    return remembered("fingerprint", files, memory, load) if exist else None
