import subprocess
import sys

import elmo_bench


def test_only_the_public_names_are_available():
    assert elmo_bench.BiLm.__name__ == "BiLm"
    assert elmo_bench.ElmoMix.__name__ == "ElmoMix"
    assert elmo_bench.read_records.__name__ == "read_records"
    assert not hasattr(elmo_bench, "Bilm")


def test_importing_the_package_and_reading_records_does_not_import_torch():
    code = "import sys, elmo_bench; elmo_bench.read_records('.'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
