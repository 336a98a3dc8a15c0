import subprocess
import sys


def test_importing_the_metrics_is_lightweight():
    code = "import sys, elmo_bench.metrics; print(*{'torch', 'sklearn', 'scipy'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
