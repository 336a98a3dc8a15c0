"""The files of a transformer: a folder, or a model on the Hugging Face Hub; imports no torch.

Without a network, or without the package, it is an error at once: `transformers` alone takes
seconds to import, and huggingface_hub longer to give up.
"""

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from elmo_bench.config.bilm_settings import TransformerSettings
from elmo_bench.data import hub
from elmo_bench.errors import UserError
from elmo_bench.records.digest import content_hash, digest
from elmo_bench.records.remembered import remembered

# What says how text becomes numbers and numbers become layers. Nothing else in a folder counts.
CONFIG = ("config.json",)
TOKENIZER = (
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*",
    "merges.txt",
    "*.model",
)
SAFETENSORS = ("model*.safetensors", "model*.safetensors.index.json")
PICKLED = ("pytorch_model*.bin", "pytorch_model*.bin.index.json")

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_HINT = "download it on another machine and give its folder"


def is_transformer(name: str | Path) -> bool:
    """Whether a name that may also be a biLM's is a transformer's: its folder, or owner/name."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return (folder / "config.json").is_file() and not (folder / "config.yaml").exists()
    is_bilm = (Path("results/bilm") / name).exists()
    return not is_bilm and _HUB_ID.fullmatch(str(name)) is not None


def find_folder(name: str | Path, download: bool = True) -> Path:
    """The folder of a transformer.

    Args:
        name: The folder, or an id of the Hub, whose files are then in the Hub's own cache.
        download: Whether to fetch files that are not in that cache.
    """
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = _hub_folder(str(name), download)
    if not (folder / "config.json").is_file():
        raise FileNotFoundError(
            f"{folder} has no config.json: it is not the folder of a model that the package "
            f"transformers saved."
        )
    return folder


def check_package() -> None:
    """Raise an error if the package transformers is not installed."""
    if find_spec("transformers") is None:
        raise UserError(
            "Transformer encoders need the package transformers, which is not installed: "
            "pip install 'elmo_bench[transformers]'"
        )


def files_digest(folder: Path, memory: Path | None = None, weights: bool = True) -> str:
    """Hash of the names and contents of the files that count.

    Args:
        folder: Of the transformer.
        memory: Where digests are remembered until a file changes; None reads the files.
        weights: Whether the weights count, or only the configuration and the tokenizer.
    """
    files = _matching(folder, (*CONFIG, *TOKENIZER))
    if weights:
        found = _matching(folder, SAFETENSORS) or _matching(folder, PICKLED)
        if not found:
            raise FileNotFoundError(
                f"{folder} has no weights: neither {SAFETENSORS[0]} nor {PICKLED[0]}."
            )
        files += found

    def compute() -> str:
        return digest([(path.name, content_hash(path)) for path in files])

    return compute() if memory is None else remembered("transformer", files, memory, compute)


def transformer_fingerprint(content: str, pooling: str, window: int | None) -> str:
    """Hash of what determines the layers of a transformer.

    Args:
        content: Of its files.
        pooling: How the vectors of a word's subwords become one.
        window: Subwords read at once; None: as many as the model can.
    """
    return digest([TransformerSettings.version, content, pooling, window])


def _matching(folder: Path, patterns: Sequence[str]) -> list[Path]:
    return sorted({path for p in patterns for path in folder.glob(p) if path.is_file()})


def _hub_folder(name: str, download: bool) -> Path:
    is_id = re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) is not None
    online = download and is_id and hub.is_reachable()
    if not online and not (_hub_cache() / f"models--{name.replace('/', '--')}").is_dir():
        raise FileNotFoundError(
            f"no transformer at {name}: it is not a folder, the Hugging Face Hub cannot be "
            f"reached, and no copy of such a model is cached; {_HINT}."
        )
    from huggingface_hub import snapshot_download

    def fetch(*patterns: str) -> Path:
        found = snapshot_download(name, allow_patterns=list(patterns), local_files_only=not online)
        return Path(found)

    try:
        folder = fetch(*CONFIG, *TOKENIZER, *SAFETENSORS)
        if not _matching(folder, SAFETENSORS):
            folder = fetch(*PICKLED)
    except Exception as error:  # of many kinds: no such model, no access, no network
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise FileNotFoundError(
            f"no transformer at {name}: it is not a folder, and the Hugging Face Hub does not "
            f"give it ({reason}); {_HINT}."
        ) from error
    return folder


def _hub_cache() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "huggingface"
    hub_cache = Path(os.environ.get("HF_HOME", home)) / "hub"
    return Path(os.environ.get("HF_HUB_CACHE", hub_cache)).expanduser()
