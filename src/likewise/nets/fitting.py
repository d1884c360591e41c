"""From fresh nets to the best one: starts, moves, judgement, and a last stretch on all statements.

It drives a skorch net and asks held-out statements which state of it to keep. What a batch costs is
in `likewise.nets.objective`.
"""

import copy
import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from likewise.nets.graph import first_guess, numbers_in_graph
from likewise.nets.judging import ERROR_RATES, Evidence, Judge, Verdict, hold_out
from likewise.nets.moves import Move, propose
from likewise.nets.neighbors import StandIns
from likewise.nets.objective import Objective, surprise
from likewise.nets.rows import Rows
from likewise.nets.sampler import PairBatchSampler, population_of
from likewise.statements.statements import Statements

if TYPE_CHECKING:
    from likewise.nets.classifier import PairNetClassifier

__all__ = ["Fitting"]

_FIRST_ERROR_RATE = 0.1
"""Error rate of the first start, where it is not given: wrong answers must not be learned."""
_SHARES_FROM = 4096
"""Rows that class shares of held-out evidence are made of."""
_PATIENCE = 2
"""Moves in a row that may fail before no more are tried."""
_GUESS, _MOVE, _TEACH, _REFIT = 0.2, 0.7, 0.1, 0.2
"""Steps in which a first guess is taught, of a move, of what is taught before it, and of the last
stretch, in shares of a start's."""
_IN_GRAPH = 60_000
"""Rows of a graph, at most: it takes the distances of all of them."""
_MOVE_RATE, _TEACH_RATE, _REFIT_RATE = 0.5, 0.5, 0.3
"""Their learning rates, in shares of a start's highest."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of training.

    Attributes
    ----------
    name : str
    share : float
        Of the steps of a start.
    rate : float
        Highest learning rate, in shares of the net's own.
    rise : float
        Share of the stretch in which the learning rate rises; it falls in the rest.
    has_help : bool
        Whether information and stand-ins help, less and less.
    """

    name: str
    share: float = 1.0
    rate: float = 1.0
    rise: float = 0.25
    has_help: bool = True

    def rate_at(self, progress: float) -> float:
        """Return the factor of the learning rate: one cycle, linear up and cosine down."""
        if progress < self.rise:
            return self.rate * (0.04 + 0.96 * progress / self.rise)
        fallen = (progress - self.rise) / (1.0 - self.rise)
        return self.rate * (0.5 + 0.5 * math.cos(math.pi * fallen))

    def help_at(self, progress: float) -> float:
        """Return how much information and stand-ins help."""
        return 1.0 - progress if self.has_help else 0.0


@dataclass
class _Kept:
    """A state of the net, with what held-out statements say of it."""

    module: dict[str, Any]
    loss: dict[str, Any]
    evidence: Evidence | None
    epoch: int


@dataclass
class Fitting:
    """One fit of a net.

    Attributes
    ----------
    net : PairNetClassifier
        Whose components are initialized.
    rows : Rows
    statements : Statements
    pairing : str
    seed : int
    verdicts : list of Verdict
        How every start and move ended.
    best : int
        The position of the best among these.
    """

    net: "PairNetClassifier"
    rows: Rows
    statements: Statements
    pairing: str
    seed: int
    verdicts: list[Verdict] = field(default_factory=list)
    best: int = 0

    def __post_init__(self) -> None:
        net, statements = self.net, self.statements
        self._draw = np.random.RandomState(self.seed)
        self._population = population_of(statements)
        self._train, self._judge = statements, None
        if net.validation is not None:
            held = hold_out(statements, net.validation, self._seed())
            self._train = held.train
            size = min(_SHARES_FROM, self._population.size)
            some = self._draw.choice(self._population, size, replace=False)
            self._judge = Judge(held.judged, some, net.n_classes, self.pairing)
        self._stand_ins = self._find_stand_ins()
        is_auto = net.error_rate == "auto"
        self.error_rate = _FIRST_ERROR_RATE if is_auto else float(net.error_rate)
        self._kept: _Kept | None = None

    def run(self) -> Evidence | None:
        """Train; leave the net in its best state, and return what held-out statements say of it."""
        for number in range(self.net.restarts):
            if number:
                self.net.begin_again(self._seed())
            targets = self._first_guess() if number == 0 else None
            if targets is None:
                self._try(Stretch(f"start {number + 1}"))
                continue
            self._teach(targets, _GUESS)
            self._try(Stretch("start 1, from near rows", _MOVE, _MOVE_RATE, 0.2))
        self._move_on()
        kept = self._restored()
        if self.net.refit and self._judge is not None:
            last = Stretch("refit", _REFIT, _REFIT_RATE, 0.0, has_help=False)
            self._stretch(last, self.statements)
        return kept.evidence

    def _find_stand_ins(self) -> StandIns | None:
        table, count = self.rows.table, self.net.neighbors
        if isinstance(count, str):  # "auto"
            count = self.net.AUTO_NEIGHBORS if table is not None else 0
        if count and table is None:
            raise ValueError(
                "neighbors needs rows that are one array of floating numbers; pass neighbors=0."
            )
        # Two of a few rows are seldom alike because they are near.
        if not count or table is None or self._population.size < 10 * count:
            return None
        members = np.flatnonzero(self.statements.stated)
        return StandIns(table, members, self._population, int(count))

    def _first_guess(self) -> Tensor | None:
        """Return class probabilities of rows by the graph of near rows; None where it has none."""
        table = self.rows.table
        if self._stand_ins is None or table is None or self.pairing != "asked":
            return None
        members = np.flatnonzero(self._train.stated)
        numbers = numbers_in_graph(self.rows.n_rows, members, _IN_GRAPH, self._draw)
        place = np.full(self.rows.n_rows, -1)
        place[numbers] = np.arange(numbers.size)
        links = self._train.links
        links = links._replace(left=place[links.left], right=place[links.right])
        some = torch.as_tensor(numbers, device=table.device)
        net = self.net
        guess = first_guess(
            table[some], links, net.n_classes, self.error_rate, net.information_weight
        )
        targets = torch.zeros((self.rows.n_rows, net.n_classes), device=table.device)
        targets[some] = guess
        return targets.to(self.rows.device)

    def _seed(self) -> int:
        return int(self._draw.randint(2**31 - 1))

    def _try(self, stretch: Stretch) -> bool:
        """Train a stretch and keep it if it is the best; tell whether it is."""
        found = self._stretch(stretch, self._train)
        evidence = found.evidence
        mean = math.nan if evidence is None else evidence.mean
        self.verdicts.append(Verdict(stretch.name, mean, found.epoch, self.error_rate))
        before = None if self._kept is None else self._kept.evidence
        if before is not None and (evidence is None or evidence.mean <= before.mean):
            return False
        self._kept, self.best = found, len(self.verdicts) - 1
        if evidence is not None and self.net.error_rate == "auto":
            self.error_rate = evidence.error_rate
        return True

    def _restored(self) -> _Kept:
        kept = self._kept
        if kept is None:
            raise RuntimeError("There is nothing to restore before a start.")
        self.net.module_.load_state_dict(kept.module)
        self.net.criterion_.load_state_dict(kept.loss)
        return kept

    def _objective(self) -> Objective:
        net = self.net
        net.criterion_.error_rate = self.error_rate
        links = self._train.links
        return Objective(
            net.scores_of_batch,
            self.rows,
            net.criterion_,
            surprise(links, net.n_classes, self.pairing),
            net.consistency,
            net.consistency_weight,
            net.information_weight,
            net.radius,
            self._stand_ins,
        )

    def _sampler(self, statements: Statements, share: float) -> tuple[PairBatchSampler, int]:
        """Return the batches of an epoch, and how many epochs there are."""
        net = self.net
        sampler = PairBatchSampler(
            statements,
            net.batch_size,
            unlabeled_size=net.unlabeled_size,
            population=self._population,
            random_state=self._seed(),
        )
        steps = max(1, round(share * net.max_steps))
        n_epochs = max(1, min(net.max_epochs, steps // len(sampler)))
        sampler.passes = max(1, round(steps / n_epochs / len(sampler)))
        return sampler, n_epochs

    def _stretch(self, stretch: Stretch, statements: Statements) -> _Kept:
        """Train by statements; return the state of the last epoch, or of a clearly better one."""
        net, objective = self.net, self._objective()
        net.begin_optimizer()
        rates = [group["lr"] for group in net.optimizer_.param_groups]
        sampler, n_epochs = self._sampler(statements, stretch.share)
        n_steps, done = n_epochs * len(sampler), 0
        kept = last = None
        for epoch in range(n_epochs):
            net.notify("on_epoch_begin", dataset_train=None, dataset_valid=None)
            total: Any = 0.0
            for batch in sampler.batches():
                progress = done / n_steps
                for group, rate in zip(net.optimizer_.param_groups, rates, strict=True):
                    group["lr"] = rate * stretch.rate_at(progress)
                help_ = stretch.help_at(progress)
                total = total + net.step(partial(objective.of_statements, batch, help_))
                done += 1
            last = self._state(epoch, is_judged=statements is self._train)
            is_best = _is_best(last, kept)
            kept = last if is_best else kept
            if net.end_epoch(stretch.name, total / len(sampler), last.evidence, is_best=is_best):
                break
        if kept is None or last is None:
            raise RuntimeError("A stretch of training has at least one epoch.")
        if last.evidence is None or kept.evidence is None:
            return last
        return kept if kept.evidence.is_clearly_better(last.evidence) else last

    def _state(self, epoch: int, *, is_judged: bool) -> _Kept:
        net = self.net
        evidence = None
        if self._judge is not None and is_judged:
            rates = ERROR_RATES if net.error_rate == "auto" else (self.error_rate,)
            evidence = self._judge.judge(
                net.scores_of_rows(self.rows, self._judge.rows),
                net.scores_of_rows(self.rows, self._judge.population),
                net.criterion_.pair_shares.cpu(),
                rates,
            )
        module, loss = (copy.deepcopy(part.state_dict()) for part in (net.module_, net.criterion_))
        return _Kept(module, loss, evidence, epoch)

    def _move_on(self) -> None:
        """Merge and split classes of the best net while held-out statements gain by it."""
        net = self.net
        if self._judge is None or net.n_classes < 3 or not self._train.n_dissimilar:
            return
        tried: set[Move] = set()
        failed = 0
        for number in range(net.moves):
            if failed >= _PATIENCE:
                return
            self._restored()
            move = propose(*self._smoothed(), self._train.links.is_similar, self.error_rate, tried)
            if move is None:
                return
            tried.add(move)
            self._teach(self._targets(move), _TEACH)
            is_better = self._try(Stretch(f"move {number + 1}", _MOVE, _MOVE_RATE, 0.2))
            failed = 0 if is_better else failed + 1
            tried = set() if is_better else tried

    def _smoothed(self) -> tuple[Any, Any]:
        """Return class probabilities of both sides of statements, as means over stand-ins."""
        links = self._train.links
        return self._probabilities(links.left), self._probabilities(links.right)

    def _probabilities(self, numbers: Any) -> Any:
        net = self.net
        if self._stand_ins is None:
            scores = net.scores_of_rows(self.rows, numbers)
            return functional.softmax(scores.double(), dim=-1).cpu().numpy()
        near = self._stand_ins.of(torch.as_tensor(numbers, device=self.rows.device))
        scores = net.scores_of_rows(self.rows, near.reshape(-1).cpu().numpy())
        p = functional.softmax(scores.double(), dim=-1)
        return p.reshape(*near.shape, -1).mean(dim=1).cpu().numpy()

    def _targets(self, move: Move) -> Tensor:
        """Return the answers of the net, after a move."""
        scores = self.net.scores_of_rows(self.rows, np.arange(self.rows.n_rows))
        p = functional.softmax(scores.double(), dim=-1).cpu().numpy()
        return torch.as_tensor(move.taught(p), dtype=torch.float32).to(self.rows.device)

    def _teach(self, targets: Tensor, share: float) -> None:
        """Teach the net class probabilities of rows."""
        net = self.net
        objective = self._objective()
        net.begin_optimizer()
        for group in net.optimizer_.param_groups:
            group["lr"] *= _TEACH_RATE
        sampler, n_epochs = self._sampler(self._train, share)
        sampler.passes *= n_epochs
        net.notify("on_epoch_begin", dataset_train=None, dataset_valid=None)
        total: Any = 0.0
        for batch in sampler.batches():
            total = total + net.step(partial(objective.of_targets, batch, targets))
        net.end_epoch("taught", total / len(sampler), None, is_best=False)


def _is_best(found: _Kept, kept: _Kept | None) -> bool:
    if kept is None or kept.evidence is None or found.evidence is None:
        return True
    return found.evidence.mean > kept.evidence.mean
