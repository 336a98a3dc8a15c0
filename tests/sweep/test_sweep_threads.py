import pytest

from elmo_bench.config.compose import ConfigError
from elmo_bench.sweep.threads import num_parallel_jobs, threads_per_job


@pytest.mark.parametrize("cores", [1, 2, 7, 64])
@pytest.mark.parametrize("n_jobs", [-1, -2, 1, 2, 5])
@pytest.mark.parametrize("wanted", [None, 1, 100])
def test_parallel_jobs_never_use_more_threads_than_there_are_cores(cores, n_jobs, wanted):
    launcher = {"n_jobs": n_jobs}
    if n_jobs > cores:
        with pytest.raises(ConfigError, match="n_jobs"):
            num_parallel_jobs(launcher, cores)
        return
    jobs, threads = num_parallel_jobs(launcher, cores), threads_per_job(launcher, cores, wanted)
    assert 1 <= jobs * threads <= cores


def test_a_cluster_job_uses_its_allotted_cores():
    assert threads_per_job({"cpus_per_task": 4}, 2, None) == 4


def test_sequential_jobs_leave_the_threads_to_the_config():
    assert threads_per_job({}, 2, None) is None
    assert threads_per_job({}, 2, 2) == 2
