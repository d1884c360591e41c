"""Fits on a device against one product of the rows on it, and against the engine in memory.

It needs torch with CUDA, numpy, scipy and scikit-learn only: ``python -m benchmarks.gpu`` writes
RESULTS-gpu.md where the rest of the benchmarks cannot run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine, n_cores
from benchmarks.measure import best_times
from benchmarks.table import Limit, Row, Table, seconds

_PRIOR = 0.7
_SIMILAR_PRIOR = _PRIOR**2 / (_PRIOR**2 + (1 - _PRIOR) ** 2)
_ALPHA = 1e-4
_DRAWN = 5_000_000
"""Rows that are drawn at once."""
_TITLE = "gpu: fits on a device"


def measure(n_unlabeled: int, n_pairs: int, n_features: int, n_host: int, repeats: int) -> Table:
    """Time fits of rows on the first CUDA device; without one, the table says so.

    Iterative fits are compared to the engine in memory, on `n_host` of the rows and on half of
    those, with as many pairs in proportion.
    """
    if not _has_device():
        return Table(_TITLE, "ratio", (), ("No CUDA device was found, so nothing was measured.",))
    rows = _DeviceRows.draw(n_unlabeled, n_pairs, n_features)
    fits: dict[str, Callable[[], object]] = {
        "product": rows.product,
        "squared": partial(_squared_cv().fit, rows.source()),
        **{name: partial(make().fit, rows.source()) for name, make in _ITERATIVE.items()},
    }
    best = _device_times(fits, repeats)
    host = {name: _Growth.measure(name, rows, n_host) for name in _ITERATIVE}
    return Table(
        _TITLE,
        "ratio",
        (
            Row(
                "squared, 5 folds",
                seconds(best["squared"]),
                f"one X.T @ X on the device: {seconds(best['product'])}",
                best["squared"] / best["product"],
                Limit(highest=2),
            ),
            *(_faster(name, best[name], growth, n_unlabeled) for name, growth in host.items()),
        ),
        (_say_device(rows, repeats), _say_host(host)),
    )


def _squared_cv() -> Any:
    from likewise.classifiers import SUClassifierCV

    return SUClassifierCV("squared", prior=_PRIOR)


def _logistic() -> Any:
    from likewise.classifiers import SUClassifier

    return SUClassifier("logistic", prior=_PRIOR, alpha=_ALPHA, tol=1e-6)


def _pair_likelihood() -> Any:
    from likewise.classifiers import PairClassifier

    return PairClassifier(features="linear", alphas=[_ALPHA], pairing="random", random_state=0)


_ITERATIVE: dict[str, Callable[[], Any]] = {
    "logistic": _logistic,
    "pair likelihood, linear": _pair_likelihood,
}
"""What is compared to the engine in memory; a new entry is a new row of the table."""


@dataclass(frozen=True)
class _DeviceRows:
    """Rows and pairs of two Gaussian classes, drawn on the device."""

    unlabeled: Any
    left: Any
    right: Any

    @classmethod
    def draw(cls, n_unlabeled: int, n_pairs: int, n_features: int) -> "_DeviceRows":
        import torch

        generator = torch.Generator(device="cuda").manual_seed(0)
        of_rows = _draw_classes(n_unlabeled, _PRIOR, generator)
        of_pairs = _draw_classes(n_pairs, _SIMILAR_PRIOR, generator)
        return cls(*(_draw_rows(of, n_features, generator) for of in (of_rows, of_pairs, of_pairs)))

    def source(self) -> Any:
        from likewise.engines import PairSource

        return PairSource(self.unlabeled, (self.left, self.right))

    def product(self) -> Any:
        return self.unlabeled.T @ self.unlabeled

    def on_host(self, n_rows: int) -> tuple[Any, Any]:
        """Return the first rows and pairs, in proportion, as a table with weak labels."""
        n_pairs = max(100, len(self.left) * n_rows // len(self.unlabeled))
        tables = (self.unlabeled[:n_rows], self.left[:n_pairs], self.right[:n_pairs])
        codes = np.arange(1, n_pairs + 1)
        y = np.concatenate([np.zeros(n_rows, dtype=np.int64), codes, codes])
        return np.concatenate([table.cpu().numpy() for table in tables]), y


def _draw_classes(n_rows: int, prior: float, generator: Any) -> Any:
    import torch

    drawn = torch.rand(n_rows, device="cuda", generator=generator)
    return torch.where(drawn < prior, 1.0, -1.0)


def _draw_rows(classes: Any, n_features: int, generator: Any) -> Any:
    import torch

    rows = torch.empty((len(classes), n_features), device="cuda")
    for start in range(0, len(classes), _DRAWN):
        here = slice(start, start + _DRAWN)
        rows[here].normal_(generator=generator)
        rows[here, :5] += 0.5 * classes[here, None]
    return rows


def _device_times(actions: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the least seconds of each action, the device's work included, after a warm-up."""
    import torch

    def with_wait(action: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            action()
            torch.cuda.synchronize()

        return run

    waiting = {name: with_wait(action) for name, action in actions.items()}
    for run in waiting.values():
        run()
    return best_times(waiting, repeats)


@dataclass(frozen=True)
class _Growth:
    """How the time of a fit in memory grows with the rows."""

    n_half: int
    half: float
    n_full: int
    full: float

    @classmethod
    def measure(cls, name: str, rows: _DeviceRows, n_rows: int) -> "_Growth":
        sizes = {"half": n_rows // 2, "full": n_rows}
        fits = {which: partial(_fit_host, name, rows.on_host(n)) for which, n in sizes.items()}
        fits["half"]()  # the warm-up
        best = best_times(fits, 2)
        return cls(sizes["half"], best["half"], sizes["full"], best["full"])

    def at(self, n_rows: int) -> float:
        """Return the time that so many rows would take if growth went on like that."""
        slope = (self.full - self.half) / (self.n_full - self.n_half)
        return self.full + slope * (n_rows - self.n_full)


def _fit_host(name: str, table: tuple[Any, Any]) -> None:
    _ITERATIVE[name]().fit(*table)


def _faster(name: str, on_device: float, growth: _Growth, n_rows: int) -> Row:
    host = growth.at(n_rows)
    return Row(
        f"{name}, times faster than in memory",
        seconds(on_device),
        f"in memory: {seconds(host)} (scaled)",
        host / on_device,
        Limit(lowest=20),
    )


def _say_device(rows: _DeviceRows, repeats: int) -> str:
    import torch

    n_rows, n_features = rows.unlabeled.shape
    return (
        f"{n_rows:,} x {n_features} unlabeled rows and {len(rows.left):,} pairs, float32, drawn on "
        f"the device ({torch.cuda.get_device_name()}); best of {repeats} after a warm-up, taking "
        "turns. Products are in full single precision (no TF32). Decisions on held-out rows are "
        "counted on at most 2^24 evenly spaced rows."
    )


def _say_host(host: dict[str, _Growth]) -> str:
    measured = "; ".join(
        f"{name}: {seconds(growth.half)} for {growth.n_half:,} rows, {seconds(growth.full)} for "
        f"{growth.n_full:,}"
        for name, growth in host.items()
    )
    return (
        "In memory: measured on some of the same rows, with pairs in proportion, and scaled to all "
        f"of them by the growth between the two sizes, on {n_cores()} cores ({measured})."
    )


def _has_device() -> bool:
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def main() -> None:
    """Measure in full size; print and write what was found."""
    from benchmarks.report import GPU_RESULTS, write_results

    machine = describe_machine()
    table = measure(50_000_000, 1_000_000, 50, n_host=2_000_000, repeats=7)
    print(table.title, *("; ".join(row.cells) for row in table.rows), *table.notes, sep="\n")
    if table.rows:
        write_results([table], machine, "python -m benchmarks.gpu", GPU_RESULTS)


if __name__ == "__main__":
    main()
