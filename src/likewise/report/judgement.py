"""How often predictions are right: class probabilities that explain what was said about rows.

The log-probabilities of a row's classes are, up to their sum::

    scale * score_k + b / 2 [class k is predicted] + offset_k

with cross-fitted reference scores, fitted by the likelihood of the statements. Rates are what these
probabilities say of the predictions. This module sees numbers alone: no features, no classifier.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, minimize

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs, Likelihood, log_probabilities
from likewise.beliefs.expansion import Counts
from likewise.beliefs.fresh import FreshLikelihood, in_order
from likewise.engines.rows import row_numbers
from likewise.report.curves import areas
from likewise.statements.labels import row_sets_of

__all__ = ["Judgement", "agreement", "draw_values", "judge"]

IntArray = NDArray[np.intp]

_SAY = 0.3
"""How far predictions may move the log-odds beyond the score before statements must speak for it:
standard deviation of the prior of b."""
_WEAK = 2.0
"""That of the offsets and of the logarithm of the scale, as where scores are calibrated."""
_BOUNDS = ((-6.0, 3.0), (-20.0, 20.0))
"""Of the logarithm of the scale, and of all else."""
_STEP = 1e-3
"""By which coefficients are moved to see the curvature."""
_N_REFITS, _N_DRAWS = 200, 500
"""Bootstrap samples, each of which is fitted, and draws from a posterior, which cost less."""
_CLEAR = 2.0
"""Standard errors by which predictions must be linked to classes to say what they stand for: a few
rows that are predicted otherwise than all others, and wrongly, say nothing."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """Probabilities of the classes, given scores and predictions.

    Attributes
    ----------
    scores : array of shape (n_rows, n_classes)
        Reference scores, by models that did not see the row.
    predictions : integer array of shape (n_rows,)
        Classes of the classifier.
    order : integer array of shape (n_classes,)
        Hidden class that the prediction of each class speaks for.
    likelihood : Likelihood
    population : array of shape (n_rows,)
        Weights of the rows of a table among all rows there could be. (Fresh pairs have their own.)
    vector : array of shape (n_classes + 1,)
        Logarithm of the scale, b, and the offsets of all classes but the first.
    ranks : array of shape (n_rows,), or None
        What the classifier ranks rows by, high for the second of two classes.
    ahead : array of shape (n_rows, n_classes), or None
        One for the class that the classifier itself predicts, less how often clones predict each.
    """

    scores: FloatArray
    predictions: IntArray
    order: IntArray
    likelihood: Likelihood
    population: FloatArray
    vector: FloatArray
    ranks: FloatArray | None = None
    ahead: FloatArray | None = None

    @cached_property
    def _says(self) -> FloatArray:
        return 0.5 * np.eye(self.order.size)[self.order[self.predictions]]

    def at(self, vector: FloatArray) -> "Judgement":
        """Return the judgement with other coefficients."""
        return replace(self, vector=vector)

    @property
    def log_p(self) -> FloatArray:
        """Log-probabilities of the hidden classes given scores and predictions."""
        scores = np.exp(self.vector[0]) * self.scores + self.vector[1] * self._says
        return log_probabilities(scores + np.append(0.0, self.vector[2:]))

    def slopes(self, gradient: FloatArray) -> FloatArray:
        """Return what every row adds to the gradient in the coefficients, given that in the scores.

        Returns
        -------
        array of shape (n_rows, n_classes + 1)
        """
        return np.column_stack(
            [
                np.exp(self.vector[0]) * np.sum(gradient * self.scores, axis=1),
                np.sum(gradient * self._says, axis=1),
                gradient[:, 1:],
            ]
        )

    def evaluate(self, near: Beliefs | None = None) -> Beliefs:
        """Return what the statements imply at these coefficients."""
        return self.likelihood.evaluate(self.log_p, near)

    def known(
        self, beliefs: Beliefs, factors: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return what is known of all rows.

        Parameters
        ----------
        beliefs : Beliefs
            As `evaluate` returns them.
        factors : array of shape (n_rows,), optional
            Rows of a table count so many times.

        Returns
        -------
        weights : array of shape (n_rows,)
            Of the rows in the distribution of rows; they sum to one.
        probabilities : array of shape (n_rows, n_classes)
            Of the classes as the classifier calls them.
        """
        if isinstance(self.likelihood, FreshLikelihood):
            weights, probabilities = beliefs.weights, np.exp(self.log_p)
        else:
            weights = self.population if factors is None else self.population * factors
            weights, probabilities = weights / weights.sum(), beliefs.posteriors
        found = _meant(weights, probabilities, self.predictions)
        return weights, probabilities[:, found]

    def values(self, beliefs: Beliefs, factors: FloatArray | None = None) -> FloatArray:
        """Return accuracy, recall of every class and share of every class."""
        weights, probabilities = self.known(beliefs, factors)
        return _rates(_joint(weights, probabilities, self.predictions))

    def areas(self, beliefs: Beliefs, factors: FloatArray | None = None) -> FloatArray:
        """Return the area under the ROC curve and the average precision, of two classes."""
        if self.ranks is None:
            return np.full(2, np.nan)
        weights, probabilities = self.known(beliefs, factors)
        return areas(self.ranks, weights, probabilities[:, 1])

    def confusion(self, beliefs: Beliefs) -> FloatArray:
        """Return the share of rows of a class (row) that are predicted to be of one (column)."""
        weights, probabilities = self.known(beliefs)
        return _joint(weights, probabilities, self.predictions).T

    def attainable(self, beliefs: Beliefs) -> float:
        """Return how often the likeliest class is right, by what scores tell of it."""
        weights = self.known(beliefs)[0]
        return float(weights @ np.exp(self.log_p.max(axis=1)))

    def by_scores(self, beliefs: Beliefs) -> FloatArray:
        """Return class probabilities that scores and predictions give, statements left aside.

        Returns
        -------
        array of shape (n_rows, n_classes)
            Of the classes as the classifier calls them.
        """
        probabilities = np.exp(self.log_p)
        found = _meant(self.known(beliefs)[0], probabilities, self.predictions)
        return np.asarray(probabilities[:, found])

    def lag(self, beliefs: Beliefs, factors: FloatArray | None = None) -> FloatArray:
        """Return how far the clones, which saw fewer rows, fall behind the classifier itself.

        The correction of cross-validation by Burman (1989): accuracy and recall of the classifier
        over all rows, less the mean of its clones. All are judged by the probabilities that scores
        give: what the statements say of a row, the classifier itself has seen.

        Parameters
        ----------
        beliefs, factors
            As in `known`.

        Returns
        -------
        array of shape (1 + 2 n_classes,)
            Zeros for the shares of the classes.
        """
        k = self.order.size
        if self.ahead is None:
            return np.zeros(1 + 2 * k)
        weights, probabilities = self.known(beliefs, factors)[0], self.by_scores(beliefs)
        gains = weights @ (self.ahead * probabilities)
        recalls = gains / np.maximum(weights @ probabilities, 1e-12)
        return np.concatenate([[gains.sum()], recalls, np.zeros(k)])


def judge(
    scores: FloatArray,
    predictions: IntArray,
    likelihood: Likelihood,
    population: FloatArray | None = None,
    ranks: FloatArray | None = None,
    ahead: FloatArray | None = None,
) -> tuple[Judgement, Beliefs]:
    """Explain statements by scores and predictions.

    Parameters
    ----------
    scores : array of shape (n_rows, m)
        Of one column for two classes.
    predictions : integer array of shape (n_rows,)
    likelihood : Likelihood
    population : array of shape (n_rows,), optional
        Weights of a table's rows; by default all count alike.
    ranks : array of shape (n_rows,), optional
        What the classifier ranks rows by.
    ahead : array of shape (n_rows, n_classes), optional
        By how much more often the classifier itself predicts every class than its clones do.

    Returns
    -------
    Judgement
    Beliefs
    """
    n_rows, k = scores.shape[0], likelihood.n_classes
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(n_rows), scores])
    population = np.ones(n_rows) if population is None else population
    first = np.exp(log_probabilities(scores))
    found = _meant(population / population.sum(), first, predictions)
    first_guess = np.zeros(k + 1)
    return _explain(
        Judgement(scores, predictions, found, likelihood, population, first_guess, ranks, ahead)
    )


def _explain(start: Judgement) -> tuple[Judgement, Beliefs]:
    """Fit the coefficients by the likelihood of the statements."""
    objective = _objective(start)
    bounds = [_BOUNDS[0], *[_BOUNDS[1]] * (start.vector.size - 1)]
    found = minimize(objective, start.vector, jac=True, method="L-BFGS-B", bounds=bounds)
    best = start.at(np.asarray(found.x))
    return best, best.evaluate()


def _objective(judged: Judgement) -> Callable[[FloatArray], tuple[float, FloatArray]]:
    """Return the negative log-posterior of coefficients, per pair, with its gradient."""
    size, precision = judged.likelihood.size, _precision(judged)
    near: list[Beliefs | None] = [None]

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        here = judged.at(vector)
        found = near[0] = here.evaluate(near[0])
        value = found.value - 0.5 * float(precision @ vector**2)
        return -value / size, (precision * vector - here.slopes(found.gradient).sum(axis=0)) / size

    return objective


def _precision(judged: Judgement) -> FloatArray:
    deviations = np.full(judged.vector.size, _WEAK)
    deviations[1] = _SAY
    return np.asarray(deviations**-2.0)


def draw_values(
    judged: Judgement, beliefs: Beliefs, random_state: np.random.RandomState
) -> FloatArray:
    """Draw accuracy, recalls, shares, pair agreement and areas as they could have been as well.

    How far clones fall behind is drawn with them: few rows tell it, and it varies with these.

    Parameters
    ----------
    judged : Judgement
    beliefs : Beliefs
        Of this judgement.
    random_state : RandomState

    Returns
    -------
    array of shape (n_draws, 4 + 2 n_classes)
    """
    if isinstance(judged.likelihood, FreshLikelihood):
        return _bootstrap(judged, judged.likelihood, random_state)
    return _posterior(judged, beliefs, random_state)


def _bootstrap(
    judged: Judgement, likelihood: FreshLikelihood, random_state: np.random.RandomState
) -> FloatArray:
    """Draw fresh pairs and unlabeled rows with replacement, and judge by these."""
    rows, counts, draws = row_sets_of(likelihood.statements), likelihood.counts, []
    drawn = FreshLikelihood(in_order(counts), likelihood.n_classes, likelihood.pairing)
    for _ in range(_N_REFITS):
        chosen = _resampled([row_numbers(part) for part in rows], counts, random_state)
        if likelihood.statements.weights is not None:
            again_said = replace(drawn.statements, weights=likelihood.statements.weights[chosen])
            drawn = FreshLikelihood(again_said, likelihood.n_classes, likelihood.pairing)
        again, found = _explain(
            replace(
                judged,
                scores=judged.scores[chosen],
                predictions=judged.predictions[chosen],
                likelihood=drawn,
                ranks=None if judged.ranks is None else judged.ranks[chosen],
                ahead=None if judged.ahead is None else judged.ahead[chosen],
            )
        )
        agreed = agreement(again.predictions, drawn)[0]
        rates = again.values(found) + again.lag(found)
        draws.append(np.concatenate([rates, [agreed], again.areas(found)]))
    return np.array(draws)


def _resampled(
    parts: list[IntArray], counts: Counts, random_state: np.random.RandomState
) -> IntArray:
    """Return row numbers of a bootstrap sample, in the order of `Counts`."""
    similar = random_state.randint(max(counts.similar, 1), size=counts.similar)
    dissimilar = random_state.randint(max(counts.dissimilar, 1), size=counts.dissimilar)
    alone = random_state.randint(counts.unlabeled, size=counts.unlabeled)
    numbers = (alone, similar, similar, dissimilar, dissimilar)
    return np.concatenate([part[chosen] for part, chosen in zip(parts, numbers, strict=True)])


def _posterior(
    judged: Judgement, beliefs: Beliefs, random_state: np.random.RandomState
) -> FloatArray:
    """Draw weights of a table's rows, and the coefficients that these imply.

    Rows are a sample of all there could be: they are weighed by a Bayesian bootstrap (Rubin, 1981).
    It is over single rows, though statements tie them together: rows were drawn one by one, and
    statements then made about them. A row that statements determine is right or wrong, and varies
    as the answers of a sample do; of any other row its probability is averaged, which varies less.
    Hidden classes are not drawn: the accuracy of new rows is asked for, not that of these.
    """
    held = replace(judged, likelihood=judged.likelihood.held(beliefs))
    near = held.evaluate(beliefs)
    value, error = agreement(judged.predictions, judged.likelihood)
    draws, ranked = [], []
    factors = random_state.standard_exponential((_N_DRAWS, judged.predictions.size))
    for own, vector in zip(factors, _coefficients(held, near, factors, random_state), strict=True):
        here = held.at(vector)
        found = here.evaluate(near)
        draws.append(here.values(found, own) + here.lag(found, own))
        ranked.append(here.areas(found, own))
    agreed = value + error * random_state.standard_normal(_N_DRAWS)
    return np.column_stack([draws, agreed, ranked])


def _coefficients(
    judged: Judgement,
    beliefs: Beliefs,
    factors: FloatArray,
    random_state: np.random.RandomState,
) -> FloatArray:
    """Draw coefficients around the best ones, given how often each row counts.

    A sample that happens to hold more rows that are predicted rightly also makes scores look
    surer: rates and coefficients err together. So coefficients follow the weights of the rows by
    one Newton step of the weighted likelihood (Newton and Raftery, 1994). What the curvature leaves
    open beyond that (Laplace's method) is drawn independently.

    Returns
    -------
    array of shape (n_draws, n_classes + 1)
    """
    covariance = _covariance(judged)
    slopes = judged.slopes(beliefs.gradient)
    moved = (factors - 1.0) @ slopes @ covariance
    left = covariance - covariance @ (slopes.T @ slopes) @ covariance
    values, vectors = np.linalg.eigh((left + left.T) / 2)
    normal = random_state.standard_normal(moved.shape)
    found = judged.vector + moved + (normal * np.sqrt(values.clip(0.0))) @ vectors.T
    found[:, 0] = found[:, 0].clip(*_BOUNDS[0])
    return np.asarray(found)


def _covariance(judged: Judgement) -> FloatArray:
    """Return the inverse of the curvature at the best coefficients."""
    objective, best, size = _objective(judged), judged.vector, judged.likelihood.size
    nudges = _STEP * np.eye(best.size)
    curvature = size * np.array(
        [(objective(best + e)[1] - objective(best - e)[1]) / (2 * _STEP) for e in nudges]
    )
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    # Nothing is less known than before the statements were seen.
    values = np.maximum(values, _precision(judged).min())
    return np.asarray((vectors / values) @ vectors.T)


def agreement(predictions: IntArray, likelihood: Likelihood) -> tuple[float, float]:
    """Return the share of similar statements whose members are predicted alike, and its error.

    Statements that share a row are not independent: the standard error is that of dyads (Fafchamps
    and Gubert, 2007).

    Parameters
    ----------
    predictions : integer array of shape (n_rows,)
    likelihood : Likelihood

    Returns
    -------
    value, standard_error : float
        Not a number if there are no similar statements.
    """
    statements, links = likelihood.statements, likelihood.links
    if not statements.n_similar:
        return float("nan"), float("nan")
    differ = predictions[links.left] != predictions[links.right]
    split = np.bincount(links.statement, differ, minlength=statements.count) > 0
    agree = ~split[statements.is_similar]
    if statements.is_fresh and statements.weights is not None:
        return _weighted_share(
            agree, statements.weights[statements.members[::2]][statements.is_similar]
        )
    residuals = np.where(statements.is_similar, ~split - agree.mean(), 0.0)
    of_members = np.repeat(residuals, statements.sizes)
    of_rows = np.bincount(statements.members, of_members, minlength=statements.n_rows)
    alone = float(residuals @ residuals)
    shared = float(of_rows @ of_rows) - float(of_members @ of_members)
    return float(agree.mean()), float(np.sqrt(alone + max(shared, 0.0)) / agree.size)


def _weighted_share(is_so: NDArray[np.bool_], weights: FloatArray) -> tuple[float, float]:
    """Return the weighted share of independent statements that are so, and its error."""
    shares = weights / weights.sum()
    value = float(shares @ is_so)
    return value, float(np.sqrt(np.sum((shares * (is_so - value)) ** 2)))


def _joint(weights: FloatArray, probabilities: FloatArray, predictions: IntArray) -> FloatArray:
    """Return the share of rows that are predicted to be of a class and are of a class."""
    k = probabilities.shape[1]
    terms = weights[:, None] * probabilities
    return np.column_stack([np.bincount(predictions, terms[:, j], k) for j in range(k)])


def _meant(weights: FloatArray, probabilities: FloatArray, predictions: IntArray) -> IntArray:
    """Return the hidden class that each predicted class stands for.

    Rows that are predicted to be of the class are of it more often than others are. Where that is
    not clear, as where nearly all are predicted alike, as many as possible are right.
    """
    joint = _joint(weights, probabilities, predictions)
    shares = joint.sum(axis=1), joint.sum(axis=0)
    beyond = joint - np.outer(*shares)
    by_link, by_count = (
        linear_sum_assignment(table, maximize=True)[1] for table in (beyond, joint)
    )
    rows = np.arange(by_link.size)
    differ = np.zeros_like(joint)
    differ[rows, by_link] += 1.0
    differ[rows, by_count] -= 1.0
    gain = float(np.sum(differ * beyond))
    # What the gain varies by where predictions have nothing to do with classes.
    centered = differ - (differ @ shares[1])[:, None] - shares[0] @ differ
    centered += shares[0] @ differ @ shares[1]
    variance = float(np.sum(np.outer(*shares) * centered**2) * np.sum(weights**2))
    found = by_link if gain > _CLEAR * np.sqrt(variance) + 1e-9 else by_count
    return np.asarray(found, dtype=np.intp)


def _rates(joint: FloatArray) -> FloatArray:
    """Return accuracy, recall of every class and share of every class."""
    right, shares = np.diag(joint), joint.sum(axis=0)
    return np.concatenate([[right.sum()], right / np.maximum(shares, 1e-12), shares])
