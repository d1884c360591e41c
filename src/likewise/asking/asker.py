"""Asking people about pairs of rows, each question the one worth asking.

Answers are taken in at once. What they imply, and the classifier, are worked out in the background;
questions are drawn from what was last known, and never wait.
"""

import threading
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from likewise._types import FloatArray
from likewise.asking.audit import Audit
from likewise.asking.groups import Groups, group_rows
from likewise.asking.guessing import (
    TwoClassGuesser,
    guess_classes,
    is_better,
    shown_error_rate,
)
from likewise.asking.naming import Pair, RowNames
from likewise.asking.progress import Progress, judge_progress, renewal_step
from likewise.asking.questions import RELATIONS, Answer, Chooser, Question, Relation, read_answers
from likewise.asking.worker import Worker
from likewise.beliefs.components import ContradictionError
from likewise.beliefs.table import TableLikelihood
from likewise.classifiers import PairClassifier
from likewise.classifiers.saying import unsaid
from likewise.engines.rows import is_sparse
from likewise.io.answers import pair_of
from likewise.scores.encoding import as_numbers, is_finite_table
from likewise.statements.labels import read_labels
from likewise.statements.named import name_statements
from likewise.statements.packing import pack
from likewise.statements.statements import Statements

__all__ = ["Asker"]

_FIRST_FIT = 15
"""Answers that a classifier is first fitted to."""
_MOST_SUSPECTS = 20
_USUAL = 0.05
"""Error rate that is tried beside none, until the answers tell it better."""
_DOUBT = 0.01
"""Error rate that is allowed for when rows are classified. Questions about more than two classes
are chosen with it, however many answers are wrong: with a higher one, what a chain of answers says
fades away before there is a guess that could take its place."""
_DOUBT_OF_TWO = 0.1
"""Error rate that questions about two classes are chosen with, however many answers are wrong: no
row is a partner of others before its answer and the guess agree."""


class Asker:
    """Chooses pairs of rows to ask people about, and learns from the answers.

    Each question compares a row whose class is uncertain with one whose class is certain. The
    likelihood of answers is valid however questions were chosen, and so are the classifier and the
    class prior. The accuracy is estimated from rows that are drawn at random.

    Parameters
    ----------
    table : table of shape (n_rows, n_features)
        Numbers, or a data frame with categories and missing values (for gradient boosting).
    n_classes : int, default 2
    answers : iterable of Answer, data frame, or sequence of (left, right, relation), optional
        What was said before.
    random_share : float, default 0.2
        Share of questions about rows that are drawn at random; their `reason` says so.
    batch : int, default 1
        Number of questions that `next` returns at a time; a list if more than one.
    level : float in (0, 1), default 0.95
        Level of the interval of the accuracy, which decides when there are enough answers.
    random_state : int, RandomState instance or None

    Attributes
    ----------
    classifier_ : PairClassifier or None
        Fitted to the answers, perhaps without the last few.
    labels_ : array of shape (n_rows,) or None
        Class of every row by the classifier and all answers.
    row_proba_ : array of shape (n_rows, n_classes) or None
    answers : pandas data frame
        What was said, one row per pair: left, right, relation, reason, person.
    told : list of Answer
        The same without pandas.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(200, separation=5, random_state=0)
    >>> asker = lw.Asker(X, random_state=0)
    >>> for _ in range(40):
    ...     question = asker.next()
    ...     same = y[question.left] == y[question.right]
    ...     asker.tell(question, "same" if same else "different")
    >>> asker.wait()
    True
    >>> bool(asker.classifier_.score(X, y) > 0.9)
    True
    >>> asker.progress().n_answers
    40
    """

    def __init__(
        self,
        table: Any,
        n_classes: int = 2,
        *,
        answers: Any = None,
        random_share: float = 0.2,
        batch: int = 1,
        level: float = 0.95,
        random_state: Any = None,
    ) -> None:
        if not 0.0 <= random_share <= 1.0:
            raise ValueError(f"random_share must lie between 0 and 1; got {random_share!r}.")
        if n_classes < 2 or batch < 1:
            raise ValueError("n_classes must be at least 2 and batch at least 1.")
        self._table = table if hasattr(table, "shape") else np.asarray(table)
        self._n_rows = int(self._table.shape[0])
        if self._n_rows < 2:
            raise ValueError("A table of at least two rows is needed to ask about pairs of them.")
        self._n_classes, self._batch = n_classes, batch
        self._names = RowNames(self._table)
        random = check_random_state(random_state)
        self._seed = int(random.randint(2**31 - 1))
        self._chooser = Chooser(self._n_rows, random_share, random)
        self._estimator = None if is_finite_table(self._table) else "auto"
        self._lock = threading.RLock()
        self._told: dict[Pair, Answer] = {}
        self._given: dict[Pair, str] = {}
        self._members: dict[int, None] = {}
        self._fitted_to = 0
        self._error_rate = 0.0
        self._log_p: FloatArray | None = None
        self._posteriors: FloatArray | None = None
        self._guesser: TwoClassGuesser | None = None
        self._audit = Audit(level)
        self.classifier_: PairClassifier | None = None
        self._fitter, self._reviser = Worker(self._fit), Worker(self._revise)
        for answer in read_answers(answers):
            self._take(answer)
        if self._told:
            self._reviser.poke()
            self._fit_if_due()

    # --- questions and answers --------------------------------------------------------------

    def next(self, person: str = "") -> Any:
        """Return the next question, a list of them for ``batch > 1``, or None if none is left.

        Parameters
        ----------
        person : str
            Whom it is for.
        """
        with self._lock:
            found = [self._draw() for _ in range(self._batch)]
        questions = [question for question in found if question is not None]
        if self._batch == 1:
            return questions[0] if questions else None
        return questions

    def _draw(self) -> Question | None:
        members = self._asked_about()
        found = self._chooser.draw(self._is_new, members)
        if found is None:
            return None
        left, right, reason = found
        self._given[pair_of(left, right)] = reason
        self._note(left, right)
        return Question(self._names.name(left), self._names.name(right), reason)

    def _is_new(self, left: int, right: int) -> bool:
        pair = pair_of(left, right)
        return left != right and pair not in self._told and pair not in self._given

    def give_back(self, question: Question) -> None:
        """Take a question back that nobody answered, so that it may be asked again.

        Parameters
        ----------
        question : Question
        """
        with self._lock:
            self._given.pop(self._names.pair(question), None)

    def tell(self, question: Any, relation: Relation, person: str = "") -> None:
        """Take in an answer; one about the same pair is replaced.

        Parameters
        ----------
        question : Question, or tuple (left, right)
        relation : {"same", "different", "unsure"}
        person : str
            Who said so.
        """
        left, right = self._names.ends(question)
        with self._lock:
            reason = getattr(question, "reason", "") or self._given.get(pair_of(left, right), "")
            self._take(
                Answer(self._names.name(left), self._names.name(right), relation, reason, person)
            )
        self._reviser.poke()
        self._fit_if_due()

    def _take(self, answer: Answer) -> None:
        if answer.relation not in RELATIONS:
            raise ValueError(
                f"An answer is one of {', '.join(RELATIONS)}; got {answer.relation!r}."
            )
        pair = self._names.pair(answer)
        self._told.pop(pair, None)  # so that it is the last
        self._told[pair] = answer
        self._note(*pair)

    def _note(self, *rows: int) -> None:
        self._members.update(dict.fromkeys(rows))
        self._chooser.mark(*rows)

    def _asked_about(self) -> NDArray[np.intp]:
        """Return the rows that were asked about, in order."""
        return np.fromiter(self._members, dtype=np.intp, count=len(self._members))

    def forget(self, question: Any) -> None:
        """Take back what was said about a pair; it may be asked again.

        Parameters
        ----------
        question : Question, Answer, or tuple (left, right)
        """
        pair = pair_of(*self._names.ends(question))
        with self._lock:
            if self._told.pop(pair, None) is None:
                raise ValueError(f"Nothing was said about rows {pair[0]} and {pair[1]}.")
            self._given.pop(pair, None)
            self._fitted_to = min(self._fitted_to, len(self._told))
        self._reviser.poke()

    def undo(self) -> Question | None:
        """Take back the last answer and return its question; None if there is none."""
        with self._lock:
            if not self._told:
                return None
            last = next(reversed(self._told.values()))
            self.forget(last)
        return Question(last.left, last.right, last.reason)

    @property
    def told(self) -> list[Answer]:
        """All answers in the order in which they were told."""
        with self._lock:
            return list(self._told.values())

    @property
    def answers(self) -> Any:
        """All answers as a pandas data frame, which `likewise.pack` takes."""
        try:
            from pandas import DataFrame
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "Asker.answers is a pandas data frame, but pandas is not installed: "
                "pip install pandas. Asker.told has the same answers as a list."
            ) from error

        columns = list(Answer.__dataclass_fields__)
        return DataFrame([vars(one) for one in self.told], columns=columns)

    # --- what is known ----------------------------------------------------------------------

    @property
    def row_proba_(self) -> FloatArray | None:
        """Class probabilities of every row by the classifier and all answers."""
        with self._lock:
            return self._posteriors if self.classifier_ is not None else None

    @property
    def labels_(self) -> NDArray[Any] | None:
        """Class of every row by the classifier and all answers."""
        with self._lock:
            if self.classifier_ is None or self._posteriors is None:
                return None
            return np.asarray(self.classifier_.classes_[self._posteriors.argmax(axis=1)])

    def progress(self) -> Progress:
        """Return the progress so far: answers, estimated accuracy, and whether they are enough."""
        with self._lock:
            return judge_progress(self._n_statements(), self._audit.points)

    def history(self) -> list[tuple[int, float, float, float]]:
        """Return answers, accuracy and its interval after every fit."""
        with self._lock:
            return [(p.n_answers, p.accuracy, p.low, p.high) for p in self._audit.points]

    def suspects(self) -> list[Question]:
        """Return questions whose answers are probably wrong, most likely first."""
        with self._lock:
            if self._posteriors is None:
                return []
            found = []
            for pair, answer in self._told.items():
                if answer.relation != "unsure":
                    alike = float(self._posteriors[pair[0]] @ self._posteriors[pair[1]])
                    wrong = 1.0 - alike if answer.relation == "same" else alike
                    found.append((wrong, Question(answer.left, answer.right, answer.reason)))
        found.sort(key=lambda one: -one[0])
        return [question for wrong, question in found[:_MOST_SUSPECTS] if wrong > 0.5]

    def typical(self, k: int, count: int = 5) -> list[Any]:
        """Return typical rows of a class: those with answers whose class is most certain.

        Parameters
        ----------
        k : int
            Position of the class.
        count : int
        """
        with self._lock:
            if self._posteriors is None:
                return []
            members = self._asked_about()
            own = members[self._posteriors[members].argmax(axis=1) == k]
            order = np.argsort(-self._posteriors[own, k], kind="stable")
            return [self._names.name(int(row)) for row in own[order[:count]]]

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all answers are processed; return whether that happened in time.

        Parameters
        ----------
        timeout : float, optional
            Seconds, for each of two jobs.
        """
        return self._fitter.wait(timeout) and self._reviser.wait(timeout)

    def close(self) -> None:
        """End the work in the background."""
        self._fitter.close()
        self._reviser.close()

    # --- in the background ------------------------------------------------------------------

    def _n_statements(self) -> int:
        return sum(answer.relation != "unsure" for answer in self._told.values())

    def _statements(self) -> tuple[Any, Any]:
        """Return similar and dissimilar pairs of row numbers."""
        with self._lock:
            told = list(self._told.items())
        kinds = ("same", "different")
        same, different = (
            np.array([pair for pair, one in told if one.relation == kind], np.intp).reshape(-1, 2)
            for kind in kinds
        )
        return same, different

    def _fit_if_due(self) -> None:
        with self._lock:
            count = self._n_statements()
            step = renewal_step(count)
            if count < _FIRST_FIT or count // step == self._fitted_to // step:
                return
            self._fitted_to = count
        self._fitter.poke()

    def _fit(self) -> None:
        """Fit the classifier, and estimate its accuracy."""
        same, different = self._statements()
        X, y = self._table, pack(np.empty((self._n_rows, 0)), same, different)[1]
        classifier = self._fitted(X, y, 0.0)
        # The rate that answers showed may be too high, and then no boundary is worth learning.
        for rate in sorted({_USUAL, max(self._error_rate, _USUAL)}):
            erring = self._fitted(X, y, rate)
            if classifier is None or is_better(erring, classifier):
                classifier = erring
        assert classifier is not None  # noqa: S101 - nothing contradicts where answers may be wrong
        if self.classifier_ is not None and classifier.pair_information_.value <= 0:
            return  # answers near the boundary may hide for a while what earlier ones showed
        log_p = np.log(np.maximum(classifier.predict_proba(X), 1e-12))
        rate = shown_error_rate(classifier, read_labels(y), self._n_classes)
        with self._lock:
            self.classifier_, self._log_p, self._error_rate = classifier, log_p, rate
        self._reviser.poke()
        self._estimate(classifier, X, y, len(same) + len(different))

    def _fitted(self, X: Any, y: Any, error_rate: float) -> PairClassifier | None:
        """Fit with an error rate; None if answers contradict each other and none may be wrong.

        Questions are about open rows, whose answers nothing foretells, least of all where some are
        wrong. So held-out answers may show no clear signal although the classifier is good: its
        scores are used whether they do or not, and `has_signal_` tells.
        """
        classifier = self._unfitted(error_rate)
        classifier._trusts_scores = True
        try:
            with unsaid():
                classifier.fit(X, y)
        except ContradictionError:
            return None
        del classifier._trusts_scores  # clones and files are those of any classifier
        return classifier

    def _unfitted(self, error_rate: float) -> PairClassifier:
        return PairClassifier(
            self._n_classes,
            pairing="asked",
            error_rate=error_rate,
            estimator=self._estimator,
            features="auto" if self._n_classes == 2 else "linear",
            random_state=self._seed,
        )

    def _estimate(self, classifier: PairClassifier, X: Any, y: Any, n_answers: int) -> None:
        statements = read_labels(y)
        rate = float(classifier.error_rate)
        likelihood = TableLikelihood(statements, self._n_classes, "asked", rate)
        with self._lock:
            rows = self._chooser.random_rows()
        self._audit.add(n_answers, classifier, X, y, likelihood, rows[statements.stated[rows]])

    def _revise(self) -> None:
        """Say what all answers imply of every row: by a quick guess, and by the last classifier."""
        same, different = self._statements()
        if not len(same) + len(different):
            return
        statements = name_statements(np.empty((self._n_rows, 0)), same, different)
        groups = None
        if self._n_classes == 2:
            guessed = self._guess(statements)
        else:
            groups = group_rows(self._n_rows, same, different, self._n_classes)
            guessed = self._guess_of_groups(statements, groups)
        log_p, posteriors = self._log_p, guessed
        if log_p is not None:
            rate = max(self._error_rate, _DOUBT)
            likelihood = TableLikelihood(statements, self._n_classes, "asked", rate)
            posteriors = likelihood.evaluate(log_p).posteriors
        with self._lock:
            self._posteriors = posteriors
            self._chooser.look(guessed, self._counts(), groups)

    def _counts(self) -> NDArray[np.intp]:
        """Return the answers about every row, less those that were "unsure"."""
        counts = np.zeros(self._n_rows, dtype=np.intp)
        for pair, answer in self._told.items():
            counts[list(pair)] += -1 if answer.relation == "unsure" else 1
        return counts

    def _guess(self, statements: Statements) -> FloatArray:
        """Return class probabilities of all rows, of two classes; the first row names one."""
        if self._guesser is None:
            self._guesser = TwoClassGuesser(self._numbers)
        known = np.full(self._n_rows, -1, dtype=np.intp)
        known[next(iter(self._members))] = 0
        return self._guesser.learn(TableLikelihood(statements, 2, "asked", _DOUBT_OF_TWO, known))

    def _guess_of_groups(self, statements: Statements, groups: Groups) -> FloatArray:
        """Return class probabilities of all rows, of more classes.

        Groups that stand for classes are learned from as if they were labeled: that is quick, and
        all that the order of questions needs.
        """
        log_p = np.full((self._n_rows, self._n_classes), -np.log(self._n_classes))
        known = np.full(self._n_rows, -1, dtype=np.intp)
        rows, classes = groups.classes()
        known[rows[np.unique(classes, return_index=True)[1]]] = np.unique(classes)
        if np.unique(classes).size > 1:
            log_p = guess_classes(self._numbers, rows, classes, self._n_classes)
        likelihood = TableLikelihood(statements, self._n_classes, "asked", _DOUBT, known)
        return likelihood.evaluate(log_p).posteriors

    @cached_property
    def _numbers(self) -> Any:
        """The table as numbers of unit scale."""
        rows = self._table if is_finite_table(self._table) else as_numbers(self._table)
        return StandardScaler(with_mean=not is_sparse(rows)).fit_transform(rows)
