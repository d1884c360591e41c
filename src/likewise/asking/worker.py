"""A thread that does one job whenever there is something new to do it with."""

import threading
from collections.abc import Callable

__all__ = ["Worker"]


class Worker:
    """Runs a job in the background: once for all pokes that came while it was busy.

    There is a thread only while there is something to do. A worker that nobody closes therefore
    leaves none behind, and whatever the job belongs to can be collected. An exception ends nothing:
    it is kept and raised by the next `wait`.

    Parameters
    ----------
    job : callable
    """

    def __init__(self, job: Callable[[], None]) -> None:
        self._job = job
        self._change = threading.Condition()
        self._is_due = False
        self._is_busy = False
        self._is_closed = False
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def poke(self) -> None:
        """Ask for the job to be done."""
        with self._change:
            if self._is_closed:
                return
            self._is_due = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until there is nothing to do; return whether that was so in time."""
        with self._change:
            done = self._change.wait_for(lambda: not (self._is_due or self._is_busy), timeout)
            error, self._error = self._error, None
        if error is not None:
            raise error
        return done

    def close(self) -> None:
        """Start nothing more; what is being done is finished."""
        with self._change:
            self._is_closed, self._is_due = True, False
            self._change.notify_all()

    def _run(self) -> None:
        while True:
            with self._change:
                if not self._is_due:
                    self._thread = None
                    return
                self._is_due, self._is_busy = False, True
            try:
                self._job()
            except Exception as error:  # noqa: BLE001 - kept for `wait`, and other jobs are done
                self._error = error
            finally:
                with self._change:
                    self._is_busy = False
                    self._change.notify_all()
