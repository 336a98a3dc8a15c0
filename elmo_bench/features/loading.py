"""Loads an encoder by its name; torch is imported only once it is known to be there."""

from pathlib import Path
from typing import TYPE_CHECKING

from elmo_bench.features.transformer_files import check_package, find_folder, is_transformer

if TYPE_CHECKING:
    from elmo_bench.features.encoder import Encoder


def load_encoder(name: str | Path, device: str = "cpu") -> "Encoder":
    """Load a biLM or a transformer onto a device.

    Args:
        name: A biLM's folder, a name in results/bilm, or a published biLM such as official_small;
            or a transformer's folder, or its id on the Hugging Face Hub such as owner/name.
        device: As `resolve_device` takes it.
    """
    if is_transformer(name):
        check_package()
        folder = find_folder(name)
        from elmo_bench.devices import resolve_device
        from elmo_bench.features.transformer import TransformerEncoder

        return TransformerEncoder.load(folder).to(resolve_device(device))
    from elmo_bench.bilm.model import BiLm

    return BiLm.load(name, device)
