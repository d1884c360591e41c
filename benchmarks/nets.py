"""An epoch of pairs against an epoch of cross-entropy on as many rows, with the same net."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.measure import best_times
from benchmarks.table import Limit, Row, Table, seconds

_N_CLASSES = 10
_TITLE = "nets: an epoch of pairs against an epoch of cross-entropy on as many rows"


def measure(n_rows: int, n_features: int, width: int, n_pairs: int, repeats: int) -> Table:
    """Time steps of the objective of `PairNetClassifier`, without its search over starts."""
    if not (find_spec("torch") and find_spec("skorch")):
        return Table(_TITLE, "ratio", (), ("torch is not installed: nothing was measured.",))
    import torch

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    epochs = _epochs(n_rows, n_features, width, n_pairs, device)
    for epoch in epochs.values():
        epoch()  # warm
    best = best_times(epochs, repeats)
    labels = f"cross-entropy: {seconds(best['labels'])}"
    limits = {"pairs alone": Limit(highest=1.5), "pairs and consistency": Limit(highest=4.0)}
    rows = tuple(
        Row(name, seconds(best[name]), labels, best[name] / best["labels"], limit)
        for name, limit in limits.items()
    )
    where = torch.cuda.get_device_name() if device == "cuda" else "the CPU"
    return Table(
        _TITLE,
        "ratio",
        rows,
        (
            f"{n_pairs:,} pairs in batches of 256 with 512 unlabeled rows beside them; a net of "
            f"{n_features}-{width}-{width}-{_N_CLASSES} on {where}, AdamW, data on the device. "
            "Cross-entropy has 1,024 labeled rows in a batch, taken by number too. Consistency is "
            f"virtual adversarial, on all rows of a batch. Best of {repeats}, taking turns.",
        ),
    )


def _epochs(
    n_rows: int, n_features: int, width: int, n_pairs: int, device: str
) -> dict[str, Callable[[], None]]:
    """Return what is timed, by name."""
    import torch

    from likewise.nets.losses import PairLoss
    from likewise.nets.objective import Objective, surprise
    from likewise.nets.rows import read_rows
    from likewise.nets.sampler import PairBatchSampler
    from likewise.statements.statements import Statements

    random = np.random.default_rng(0)
    rows = read_rows(random.standard_normal((n_rows, n_features), dtype=np.float32), device)
    classes = torch.as_tensor(random.integers(_N_CLASSES, size=n_rows), device=device)
    statements = Statements(
        n_rows,
        random.integers(n_rows, size=2 * n_pairs),
        2 * np.arange(n_pairs + 1),
        random.random(n_pairs) < 1.0 / _N_CLASSES,
        np.arange(n_pairs),
    )
    sampler = PairBatchSampler(statements, random_state=0)

    def pairs(consistency: str | None) -> Callable[[], None]:
        net = _net(n_features, width).to(device)
        optimizer = torch.optim.AdamW(net.parameters())
        nats = surprise(statements.links, _N_CLASSES, "asked")
        loss = PairLoss(_N_CLASSES).to(device)
        objective = Objective(net, rows, loss, nats, consistency, 1.0, 0.6, 0.25)
        losses = (
            partial(objective.of_statements, batch, 0.5)
            for _ in iter(int, 1)  # for ever
            for batch in sampler.batches()
        )
        return partial(_epoch, optimizer, losses, len(sampler))

    def labels() -> Callable[[], None]:
        net = _net(n_features, width).to(device)
        optimizer = torch.optim.AdamW(net.parameters())

        def loss_of(numbers: Any) -> Any:
            chosen = torch.as_tensor(numbers, device=device)
            return torch.nn.functional.cross_entropy(net(rows.take(chosen)), classes[chosen])

        losses = (partial(loss_of, batch.rows) for _ in iter(int, 1) for batch in sampler.batches())
        return partial(_epoch, optimizer, losses, len(sampler))

    return {
        "labels": labels(),
        "pairs alone": pairs(None),
        "pairs and consistency": pairs("adversarial"),
    }


def _epoch(optimizer: Any, losses: Any, n_steps: int) -> None:
    """Take the steps of one epoch, and wait for the last."""
    value = None
    for _ in range(n_steps):
        optimizer.zero_grad()
        value = next(losses)()
        value.backward()
        optimizer.step()
    if value is not None:
        float(value.detach())


def _net(n_features: int, width: int) -> Any:
    from torch import nn

    return nn.Sequential(
        nn.Linear(n_features, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, _N_CLASSES),
    )
