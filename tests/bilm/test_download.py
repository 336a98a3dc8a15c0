import json
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from elmo_bench import BiLm
from elmo_bench.bilm.download import fetch, published_settings
from elmo_bench.config.bilm_settings import BilmSettings


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path, tiny_bilm):
    """A web server with the files of the tiny model: its folder and its address."""
    folder = tmp_path / "site"
    folder.mkdir()
    tiny_bilm.dump_official(folder / "tiny_options.json", folder / "tiny_weights.hdf5")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def settings_of(bilm, url, folder):
    values = {
        **bilm.architecture.plain(),
        "name": "official_tiny",
        "weights": str(folder),
        "pretrain_on": None,
        "finetune": False,
        "official": {
            "url": url,
            "options": "tiny_options.json",
            "weights": "tiny_weights.hdf5",
        },
    }
    return BilmSettings.model_validate(values)


def test_a_published_model_is_downloaded_only_once(server, tiny_bilm, tmp_path):
    site, url = server
    settings = settings_of(tiny_bilm, url, tmp_path / "local")
    first = BiLm.load_published(settings)
    for path in site.iterdir():
        path.unlink()
    again = BiLm.load_published(settings)
    assert first.fingerprint() == again.fingerprint() and first.name == "official_tiny"
    names = {path.name for path in (tmp_path / "local").iterdir()}
    assert names == {"tiny_options.json", "tiny_weights.hdf5"}


def test_files_of_another_size_are_rejected(server, tiny_bilm, tmp_path):
    site, url = server
    options = json.loads((site / "tiny_options.json").read_text())
    options["lstm"]["dim"] = 99
    (site / "tiny_options.json").write_text(json.dumps(options))
    with pytest.raises(ValueError, match=r"lstm.hidden_dim is 99, but bilm=official_tiny has 16"):
        BiLm.load_published(settings_of(tiny_bilm, url, tmp_path / "local"))


def test_a_failed_download_reports_the_workaround(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"could not be downloaded.*set bilm.weights"):
        fetch("http://127.0.0.1:9/models", tmp_path / "options.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["small", "medium", "original", "5.5B"])
def test_the_four_published_models_have_settings(name):
    settings = published_settings(f"official_{name}")
    assert settings.name == f"official_{name}"
    assert settings.official.weights.endswith("_weights.hdf5")
    size = f"{settings.lstm.hidden_dim}_{settings.lstm.projection_dim}"
    assert size in settings.official.weights


def test_a_folder_of_official_files_loads_like_a_checkpoint(server, tiny_bilm):
    assert BiLm.load(server[0]).fingerprint() == tiny_bilm.fingerprint()
