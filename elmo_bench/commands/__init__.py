"""The programs, one module each. Importing this package comes before importing torch."""

import os

# PyTorch's threads otherwise spin while they wait for each other. Beside another process they then
# take its core and their own: a training falls to a tenth of its speed.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
