"""The pair likelihood with nets, as a skorch estimator.

Glue only: parameters, components, steps, and what is known after a fit. What a batch costs is in
`likewise.nets.objective`, how the best net is found in `likewise.nets.fitting`.
"""

import copy
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from skorch import NeuralNet
from skorch.callbacks import EpochTimer, PrintLog
from torch import Tensor
from torch.nn import functional

from likewise._types import FloatArray
from likewise.beliefs.errors import suspected
from likewise.classifiers.scoring import ScoresTrueClasses
from likewise.engines.rows import is_sparse
from likewise.nets.fitting import Fitting
from likewise.nets.judging import Evidence, Verdict
from likewise.nets.losses import PairLoss
from likewise.nets.parameters import as_scores, check_parameters
from likewise.nets.rows import Batch, Rows, read_rows
from likewise.nets.sampler import population_of
from likewise.search.settings import Settings, check_pairing, default_pairing
from likewise.statements.labels import TableLabels, WeakLabels, statements_for
from likewise.statements.statements import Statements

__all__ = ["PairNetClassifier"]

_AT_ONCE = 8192
"""Rows that are scored at once."""


class PairNetClassifier(ScoresTrueClasses, ClassifierMixin, NeuralNet):
    """A net that learns from statements that rows are alike, or differ; a skorch estimator.

    The net's softmax gives class probabilities. It is trained by the likelihood of statements
    (`PairLoss`), by consistency of its answers around rows, and at first by the information that
    its answers hold about rows. It starts several times; statements about held-out rows choose
    among starts and epochs, and calibrate the probabilities. No label is seen.

    Parameters
    ----------
    module : torch Module class, function that makes one, or Module
        From a batch of rows to scores (logits), (n_rows, n_classes). A Module is copied, and every
        start begins with its weights; a class or function makes fresh ones.
    n_classes : int, default 2
    pairing : {"auto", "asked", "random", "free"}, default "auto"
        How statements came about, as in `likewise.PairClassifier`; "auto" takes statements about
        one table for asked where some say that rows differ, else for found at random. (It does not
        test random against free.)
    error_rate : float in [0, 0.5), or "auto", default 0.0
        Probability that a statement is wrong. It is held while a net is trained, which would learn
        wrong answers by heart otherwise. "auto" starts with 0.1, and every next start takes the
        rate that explains held-out statements best.
    consistency : "adversarial", callable or None, default "adversarial"
        "adversarial": rows are changed in the worst direction (virtual adversarial training). A
        function from rows to rows of the same class, such as shifted images, may be better.
    consistency_weight : float, default 1.0
    radius : float, default 0.25
        How far rows are changed, in distances to the nearest other row of a batch.
    information_weight : float, default 0.6
        Weight, at first, of the mutual information between rows and classes.
    neighbors : int or "auto", default "auto"
        Number of near rows that may stand in for a member of a statement, often at first and not at
        all in the end; 0 for none. "auto": 20 where rows are one array of floating numbers and
        ten times as many; else 0.
    restarts : int, default 2
        Number of starts. Where rows are near each other in a sense (see `neighbors`) and statements
        were asked, the first one is taught a guess that the graph of near rows gives.
    moves : int, default 4
        How often, at most, two classes of the best net are merged and one is split, to leave a
        local optimum; for three classes and more, where some statements say that rows differ.
    refit : bool, default True
        Whether the best net learns from held-out statements too in a last stretch.
    max_steps : int, default 1500
        Steps of a start, at least one pass over the statements.
    max_epochs : int, default 10
        Epochs of a start, after each of which held-out statements judge. Steps are divided evenly.
    lr : float, default 0.002
        Highest learning rate; it rises and falls once in every start.
    batch_size : int, default 256
        Statements in a batch.
    unlabeled_size : int, default 512
        Unlabeled rows in a batch.
    validation : float in (0, 0.5], or None, default 0.2
        Share of rows that are held out to judge. None judges nothing: the last epoch of the one
        start is kept.
    positive : {"majority", "minority"}, default "majority"
        Which of two classes is +1. More than two are numbered by size.
    optimizer : torch optimizer class, default AdamW
    amp : {"bfloat16"} or None, default None
        Mixed precision: the module runs in it, all losses do not.
    device : str, default "cpu"
    random_state : int, RandomState instance or None, default None
        On a CPU the same state gives the same net.
    callbacks : list, optional
        Of skorch, told of epochs and batches. One that ends training, as ``EarlyStopping`` does,
        ends the present start. What they may monitor is in `history`: ``train_loss``,
        ``valid_loss`` (less the log-likelihood of held-out statements), ``valid_loss_best``.
    verbose : int, default 0
    **kwargs
        Of skorch's `NeuralNet`: ``module__x=...``, ``optimizer__weight_decay=...``.

    Attributes
    ----------
    classes_ : array
        ``[-1, 1]`` for two classes, else ``[0, ..., n_classes - 1]``.
    prior_ : float, or array of shape (n_classes,)
        Share of class +1 among rows; of every class where there are more than two.
    labels_ : array of shape (n_rows,)
        Class of every row, from features and statements together.
    row_proba_ : array of shape (n_rows, n_classes)
        Probabilities behind `labels_`.
    pairing_ : str
    error_rate_ : float
    wrong_proba_ : array of shape (n_statements,)
        Probability that each statement is wrong.
    suspects_ : integer array
        Numbers of the statements that are more likely wrong than the average one, with a
        probability of at least 1 %, most likely first.
    held_out_ : list of Verdict
        Log-likelihood of held-out statements for every start and move.
    best_restart_ : int
        Position of the best in `held_out_`.
    evidence_ : Evidence or None
        What held-out statements say of it.
    history : skorch History

    See Also
    --------
    PairLoss, PairBatchSampler : for a training loop of one's own.

    Examples
    --------
    >>> import numpy as np, torch, likewise as lw
    >>> from likewise.nets import PairNetClassifier
    >>> rng = np.random.default_rng(0)
    >>> classes = rng.integers(2, size=300)
    >>> table = rng.normal(size=(300, 2)) + 3.0 * classes[:, None]
    >>> pairs = rng.integers(300, size=(200, 2))
    >>> same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    >>> X, y = lw.pack(table, similar=pairs[same], dissimilar=pairs[~same])
    >>> net = PairNetClassifier(
    ...     lambda: torch.nn.Linear(2, 2), restarts=1, max_steps=60, lr=0.05, random_state=0
    ... ).fit(X, y)
    >>> net.score(X, classes) > 0.9
    True
    """

    _scorer = "pair_log_likelihood_scorer"

    AUTO_NEIGHBORS: ClassVar[int] = 20

    def __init__(
        self,
        module: Any,
        n_classes: int = 2,
        *,
        pairing: str = "auto",
        error_rate: float | str = 0.0,
        consistency: str | Callable[[Any], Any] | None = "adversarial",
        consistency_weight: float = 1.0,
        radius: float = 0.25,
        information_weight: float = 0.6,
        neighbors: int | str = "auto",
        restarts: int = 2,
        moves: int = 4,
        refit: bool = True,
        max_steps: int = 1500,
        max_epochs: int = 10,
        lr: float = 0.002,
        batch_size: int = 256,
        unlabeled_size: int = 512,
        validation: float | None = 0.2,
        positive: str = "majority",
        optimizer: Any = torch.optim.AdamW,
        amp: str | None = None,
        device: Any = "cpu",
        random_state: Any = None,
        callbacks: Any = None,
        verbose: int = 0,
        criterion: Any = PairLoss,
        train_split: Any = None,
        **kwargs: Any,
    ) -> None:
        self.n_classes = n_classes
        self.pairing = pairing
        self.error_rate = error_rate
        self.consistency = consistency
        self.consistency_weight = consistency_weight
        self.radius = radius
        self.information_weight = information_weight
        self.neighbors = neighbors
        self.restarts = restarts
        self.moves = moves
        self.refit = refit
        self.max_steps = max_steps
        self.unlabeled_size = unlabeled_size
        self.validation = validation
        self.positive = positive
        self.amp = amp
        self.random_state = random_state
        super().__init__(
            module,
            criterion,
            optimizer=optimizer,
            lr=lr,
            max_epochs=max_epochs,
            batch_size=batch_size,
            train_split=train_split,
            callbacks=callbacks,
            verbose=verbose,
            device=device,
            **kwargs,
        )

    @property
    def _default_callbacks(self) -> list[tuple[str, Any]]:
        return [("epoch_timer", EpochTimer()), ("print_log", PrintLog())]

    def fit(self, X: Any, y: WeakLabels | None = None, **fit_params: Any) -> Self:
        """Learn from weak labels.

        Parameters
        ----------
        X : array or tensor of shape (n_rows, ...), dict of such, or torch Dataset
        y : integer array of shape (n_rows,), or CSR matrix of shape (n_rows, n_statements)
            Weak labels as `likewise.pack` makes them.
        **fit_params
            None: what a module needs beside rows belongs into a dict `X`.

        Returns
        -------
        self
        """
        if fit_params:
            raise TypeError(f"fit takes X and y alone; got {', '.join(sorted(fit_params))} too.")
        check_parameters(self)
        rows = read_rows(X, self.device)
        statements = statements_for(y, rows.n_rows, type(self).__name__)
        check_pairing(self.pairing, self.error_rate, is_fresh=statements.is_fresh)
        self.pairing_ = default_pairing(statements) if self.pairing == "auto" else self.pairing
        if self.error_rate == 0.0:
            self._likelihood(statements, 0.0)  # raises where statements contradict each other
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=2)
        devices = [rows.device] if rows.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(int(seeds[0]))
            self.initialized_ = False
            self.initialize()
            fitting = Fitting(self, rows, statements, self.pairing_, int(seeds[1]))
            self.notify("on_train_begin", X=X, y=y)
            self.evidence_: Evidence | None = fitting.run()
            self.notify("on_train_end", X=X, y=y)
        self.held_out_: list[Verdict] = fitting.verdicts
        self.best_restart_ = fitting.best
        self._keep(rows, statements, fitting.error_rate)
        return self

    def partial_fit(self, X: Any, y: WeakLabels | None = None, **fit_params: Any) -> Self:
        """Raise: a fit is made of starts that are compared.

        Parameters
        ----------
        X, y, **fit_params
            As of `fit`.
        """
        raise NotImplementedError(
            "PairNetClassifier compares starts, and cannot go on from one. Pass a trained Module "
            "as `module` to begin with its weights."
        )

    def initialize_module(self) -> Self:
        """Make the net; one that was passed is copied, so that it stays as it is."""
        kwargs = self.get_params_for("module")
        module = self.initialized_instance(self.module, kwargs)
        self.module_ = copy.deepcopy(module) if module is self.module else module
        return self

    def initialize_criterion(self) -> Self:
        """Make the loss; what calibrates and names classes is kept, and saved, beside it."""
        kwargs = self.get_params_for("criterion")
        pairing = getattr(self, "pairing_", "asked" if self.pairing == "auto" else self.pairing)
        rate = 0.0 if self.error_rate == "auto" else float(self.error_rate)
        self.criterion_ = self.criterion(self.n_classes, pairing=pairing, error_rate=rate, **kwargs)
        self.criterion_.register_buffer("scale", torch.ones(()))
        self.criterion_.register_buffer("order", torch.arange(self.n_classes))
        return self

    def begin_again(self, seed: int) -> None:
        """Make a fresh net; the seed is that of its weights, and of all that is drawn later."""
        torch.manual_seed(seed)
        self.initialized_ = False
        self._initialize_module()
        self._initialize_criterion()
        self.initialized_ = True

    def begin_optimizer(self) -> None:
        """Make a fresh optimizer."""
        self.initialized_ = False
        self._initialize_optimizer()
        self.initialized_ = True

    def step(self, objective: Callable[[], Tensor]) -> Tensor:
        """Take one step and return the loss before it.

        Parameters
        ----------
        objective : callable
            Returns the loss of a batch.
        """
        self.notify("on_batch_begin", batch=objective, training=True)
        done = self.train_step(objective)
        self.notify("on_batch_end", batch=objective, training=True, **done)
        loss: Tensor = done["loss"]
        return loss

    def train_step_single(self, batch: Callable[[], Tensor], **fit_params: Any) -> dict[str, Any]:
        """Compute the gradient of a batch.

        Parameters
        ----------
        batch : callable
            Returns the loss.
        **fit_params
            None.
        """
        self._set_training(True)
        loss = batch()
        loss.backward()
        return {"loss": loss.detach(), "y_pred": None}

    def end_epoch(self, stage: str, loss: Any, evidence: Evidence | None, *, is_best: bool) -> bool:
        """Record an epoch; return whether a callback ends this stretch of training.

        Parameters
        ----------
        stage : str
        loss : Tensor or float
        evidence : Evidence or None
        is_best : bool
            Whether held-out statements like no epoch of the stretch better.
        """
        self.history.record("stage", stage)
        self.history.record("train_loss", float(loss))
        if evidence is not None:
            self.history.record("valid_loss", -evidence.mean)
            self.history.record("valid_loss_best", bool(is_best))
        try:
            self.notify("on_epoch_end", dataset_train=None, dataset_valid=None)
        except KeyboardInterrupt:  # how callbacks of skorch say that it is enough
            return True
        return False

    def scores_of_batch(self, batch: Batch) -> Tensor:
        """Return the scores of rows, (n_rows, n_classes), with gradients.

        Parameters
        ----------
        batch : Tensor, or dict of Tensors
        """
        mixed: Any = nullcontext()
        if self.amp is not None:
            mixed = torch.autocast(torch.device(self.device).type, dtype=torch.bfloat16)
        with mixed:
            return as_scores(self.infer(batch), self.n_classes)

    def scores_of_rows(self, rows: Rows, numbers: NDArray[np.intp]) -> Tensor:
        """Return the scores of rows by number, without gradients.

        Parameters
        ----------
        rows : Rows
        numbers : integer array
        """
        self._set_training(False)
        with torch.no_grad():
            parts = [
                self.scores_of_batch(rows.take(some)).float()
                for some in np.array_split(numbers, -(-numbers.size // _AT_ONCE) or 1)
                if some.size
            ]
        return torch.cat(parts) if parts else torch.zeros((0, self.n_classes))

    def _likelihood(self, statements: Statements, error_rate: float) -> Any:
        return Settings(
            n_classes=self.n_classes, pairing=self.pairing_, error_rate=error_rate
        ).likelihood(statements)

    def _keep(self, rows: Rows, statements: Statements, error_rate: float) -> None:
        """Name the classes, and keep what is known of the rows and of the statements."""
        scale = 1.0 if self.evidence_ is None else self.evidence_.scale
        scores = self.scores_of_rows(rows, np.arange(rows.n_rows)).double().cpu()
        log_p = functional.log_softmax(scale * scores, dim=-1).numpy()
        shares = np.exp(log_p[population_of(statements)]).mean(axis=0)
        order = np.argsort(-shares, kind="stable")
        if (self.positive == "minority") != (self.n_classes == 2):
            order = order[::-1].copy()  # of two classes the second is +1
        self.criterion_.scale.fill_(scale)
        self.criterion_.order.copy_(torch.as_tensor(order))
        self.prior_: Any = float(shares[order[1]]) if self.n_classes == 2 else shares[order]
        found = self._likelihood(statements, error_rate).evaluate(log_p)
        self.error_rate_ = error_rate
        self.row_proba_ = found.posteriors[:, order]
        self.labels_ = self.classes_[self.row_proba_.argmax(axis=1)]
        self.wrong_proba_ = np.asarray(found.wrong)
        suspects = suspected(self.wrong_proba_, error_rate)
        self.suspects_ = statements.numbers[suspects]

    @property
    def classes_(self) -> NDArray[np.intp]:
        """The classes."""
        return np.array([-1, 1]) if self.n_classes == 2 else np.arange(self.n_classes)

    def decision_function(self, X: Any) -> FloatArray:
        """Return log-odds of class +1, or one score per class where there are more than two.

        Parameters
        ----------
        X : as of `fit`

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
        """
        self.check_is_fitted()
        self._check_scoring()
        rows = read_rows(X, self.device)
        scores = self.scores_of_rows(rows, np.arange(rows.n_rows)).double().cpu().numpy()
        scores = float(self.criterion_.scale) * scores[:, self.criterion_.order.cpu().numpy()]
        return np.asarray(scores[:, 1] - scores[:, 0] if self.n_classes == 2 else scores)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, in the order of `classes_`.

        Parameters
        ----------
        X : as of `fit`

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        scores = torch.as_tensor(self.decision_function(X))
        if self.n_classes == 2:
            scores = torch.stack([torch.zeros_like(scores), scores], dim=1)
        return np.asarray(functional.softmax(scores, dim=-1).numpy())

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class of every row.

        Parameters
        ----------
        X : as of `fit`

        Returns
        -------
        array of shape (n_rows,)
        """
        decision = self.decision_function(X)
        chosen = decision > 0 if self.n_classes == 2 else decision.argmax(axis=1)
        return np.asarray(self.classes_[np.asarray(chosen, dtype=np.intp)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy against true classes, under the best one-to-one naming.

        Statements cannot name classes, so those here have numbers of their own.

        Parameters
        ----------
        X : as of `fit`
        y : array of shape (n_rows,)
            True classes, of any names, at most as many as `n_classes`.
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        float
        """
        if is_sparse(y) or isinstance(y, TableLabels) or np.unique(y).size > self.n_classes:
            self._refuse_weak_labels()
        names, codes = np.unique(np.asarray(y), return_inverse=True)
        found = np.searchsorted(self.classes_, self.predict(X))
        weights = np.ones(codes.size) if sample_weight is None else np.asarray(sample_weight)
        together = np.zeros((self.n_classes, names.size))
        np.add.at(together, (found, codes), weights)
        matched = linear_sum_assignment(together, maximize=True)
        return float(together[matched].sum() / weights.sum())
