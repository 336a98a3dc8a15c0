import pytest

from tests.conftest import TINY, paths_below


@pytest.fixture
def settings(tmp_path, shared_cache):
    paths = [path for path in paths_below(tmp_path) if not path.startswith("paths.cache")]
    return [*TINY, *paths, f"paths.cache={shared_cache}", "elmo=none"]
