import threading
import time

from elmo_bench.records import lock
from elmo_bench.records.lock import file_lock


def test_a_wait_is_explained_once_and_a_free_lock_says_nothing(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(lock, "PATIENCE", 0.05)
    caplog.set_level("INFO")
    path = tmp_path / "lock"
    with file_lock(path, "sleeps"):
        pass
    assert not caplog.messages

    def hold():
        with file_lock(path, "sleeps"):
            taken.set()
            time.sleep(0.3)

    taken = threading.Event()
    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    with file_lock(path, "sleeps"):
        holder.join()
    assert caplog.messages == [f"waiting for another process that sleeps ({path})"]
