"""Asker: questions, answers, what they imply, and how far asking has come."""

import gc
import sys
import threading
import time
import weakref
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likewise as lw
from likewise.asking import Answer, Asker, Question
from likewise.asking.groups import group_rows
from likewise.asking.progress import Point, expected_gain, judge_progress
from likewise.asking.questions import Chooser
from likewise.asking.worker import Worker
from likewise.classifiers.saying import unsaid
from likewise.report.predictions import unfitted
from tests.classifiers.quick import share_right


class QuickAsker(Asker):
    """An asker that tries little, and does not estimate its accuracy."""

    def _unfitted(self, error_rate: float) -> Any:
        clf = super()._unfitted(error_rate)
        return clf.set_params(features="linear", alphas=[0.03], cv=3, calibrate=False)

    def _estimate(self, classifier: Any, X: Any, y: Any, n_answers: int) -> None:
        pass


def gaussians(n_rows: int = 200) -> tuple[Any, Any]:
    return lw.datasets.make_gaussians(n_rows, separation=4.0, random_state=0)


def ask(asker: Asker, y: Any, count: int, *, error_rate: float = 0.0) -> None:
    rng = np.random.default_rng(0)
    for _ in range(count):
        question = asker.next()
        same = (y[question.left] == y[question.right]) != (rng.random() < error_rate)
        asker.tell(question, "same" if same else "different")
        asker.wait()


# --- questions --------------------------------------------------------------------------------


def test_no_pair_is_asked_about_twice() -> None:
    asker = QuickAsker(gaussians(12)[0], random_state=0)
    seen = set()
    while (question := asker.next()) is not None:
        pair = frozenset([question.left, question.right])
        assert len(pair) == 2
        assert pair not in seen
        seen.add(pair)
        asker.tell(question, "unsure")
    assert len(seen) == 12 * 11 / 2


@pytest.mark.slow
def test_questions_put_an_open_row_beside_a_sure_one() -> None:
    X, y = gaussians()
    asker = QuickAsker(X, random_share=0.0, random_state=0)
    ask(asker, y, 60)
    proba = asker.row_proba_
    assert proba is not None
    highest = proba.max(axis=1)
    ask(asker, y, 20)
    questions = asker.told[-20:]
    assert {question.reason for question in questions} == {"uncertain"}
    assert np.mean([highest[question.right] for question in questions]) > 0.95
    assert np.mean([highest[question.left] for question in questions]) < highest.mean()


def test_partners_are_few_and_those_that_most_was_said_of() -> None:
    X, y = gaussians()
    asker = QuickAsker(X, random_state=0)
    asker._fitter.close()  # it does not choose questions here
    ask(asker, y, 60)
    ends = np.array([(one.left, one.right) for one in asker.told])
    counts = np.sort(np.bincount(ends.ravel()))[::-1]
    assert counts[:6].sum() > 50  # of 60 answers
    ask(asker, y, 20)
    assert len({one.right for one in asker.told[-20:]}) <= 8


def test_a_row_that_is_hard_to_tell_is_no_partner() -> None:
    chooser = Chooser(4, 0.0, np.random.RandomState(0))
    posteriors = np.array([[1.0, 0.0], [0.99, 0.01], [0.5, 0.5], [0.5, 0.5]])
    chooser.look(posteriors, np.array([-1, 2, 0, 0]), None)
    members = np.array([0, 1])
    found = [chooser.draw(lambda left, right: left != right, members) for _ in range(10)]
    assert {one[1] for one in found if one is not None} == {1}


def test_partners_of_two_classes_are_compared_with_each_other_once() -> None:
    chooser = Chooser(8, 0.0, np.random.RandomState(0))
    posteriors = np.repeat([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], [3, 3, 2], axis=0)
    chooser.look(posteriors, np.array([3, 2, 1, 3, 2, 1, 0, 0]), None)
    asked: set[tuple[int, int]] = set()
    checks = []
    for _ in range(200):
        found = chooser.draw(lambda left, right: (left, right) not in asked, np.arange(6))
        assert found is not None
        if found[2] == "check":
            checks.append(found[:2])
            asked.add(found[:2])
    assert sorted(checks) == [(left, right) for left in range(3) for right in range(3, 6)]


def test_partners_that_are_always_unsure_are_left() -> None:
    X, _ = gaussians(60)
    asker = QuickAsker(X, random_state=0)
    first = asker.next()
    asker.tell(first, "same")
    for _ in range(20):
        question = asker.next()
        asker.tell(question, "unsure")
        asker.wait()
    partners = [one.right for one in asker.told[1:]]
    assert max(partners.count(row) for row in set(partners)) <= 10


@pytest.mark.slow
def test_a_share_of_questions_is_about_random_rows() -> None:
    X, y = gaussians(300)
    asker = QuickAsker(X, random_share=0.5, random_state=0)
    ask(asker, y, 60)
    reasons = [answer.reason for answer in asker.told]
    assert 15 < reasons.count("random") < 40
    rows = [answer.left for answer in asker.told if answer.reason == "random"]
    assert len(set(rows)) == len(rows)


def test_a_question_that_is_given_back_may_be_asked_again() -> None:
    asker = QuickAsker(np.arange(4.0).reshape(2, 2))
    question = asker.next()
    assert asker.next() is None
    asker.give_back(question)
    again = asker.next()
    assert {again.left, again.right} == {0, 1}


def test_batches_are_lists() -> None:
    asker = QuickAsker(gaussians()[0], batch=3, random_state=0)
    questions = asker.next()
    assert [type(question) for question in questions] == [Question] * 3


def test_rows_of_a_frame_go_by_their_labels() -> None:
    X, y = gaussians(60)
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"p{i}" for i in range(60)])
    asker = QuickAsker(frame, random_state=0)
    for _ in range(30):
        question = asker.next()
        left, right = int(question.left[1:]), int(question.right[1:])
        asker.tell(question, "same" if y[left] == y[right] else "different")
    asker.wait()
    packed = lw.pack(frame, asker.answers)
    assert list(asker.answers.columns) == ["left", "right", "relation", "reason", "person"]
    with unsaid():  # of a signal, which few answers need not show
        clf = lw.PairClassifier(features="linear", random_state=0).fit(*packed)
    assert clf.labels_.shape == (60,)
    with pytest.raises(KeyError, match="no row 'p99'"):
        asker.tell(("p99", "p0"), "same")


# --- answers ----------------------------------------------------------------------------------


def test_the_frame_of_answers_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    asker = lw.Asker(np.arange(20.0).reshape(10, 2), random_state=0)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pip install pandas"):
        _ = asker.answers


def test_answers_can_be_taken_back_and_changed() -> None:
    asker = QuickAsker(gaussians()[0], random_state=0)
    first, second = asker.next(), asker.next()
    asker.tell(first, "same", person="Ada")
    asker.tell(second, "different")
    assert asker.undo() == second
    assert [answer.relation for answer in asker.told] == ["same"]
    asker.tell(first, "different", person="Bo")
    assert asker.told == [Answer(first.left, first.right, "different", first.reason, "Bo")]
    assert asker.undo() == first
    assert asker.undo() is None
    assert asker.progress().n_answers == 0


@pytest.mark.parametrize(
    "answers",
    [
        [Answer(0, 1, "same"), Answer(2, 3, "different")],
        [(0, 1, "same"), (2, 3, "different")],
        pd.DataFrame({"left": [0, 2], "right": [1, 3], "relation": ["same", "different"]}),
    ],
)
def test_it_goes_on_from_earlier_answers(answers: Any) -> None:
    asker = QuickAsker(gaussians()[0], answers=answers, random_state=0)
    assert [(one.left, one.right, one.relation) for one in asker.told] == [
        (0, 1, "same"),
        (2, 3, "different"),
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda asker: asker.tell((0, 1), "maybe"), "one of same, different, unsure"),
        (lambda asker: asker.tell((1, 1), "same"), "with itself"),
        (lambda asker: asker.forget((0, 1)), "Nothing was said"),
        (lambda _: Asker(np.zeros((1, 2))), "at least two rows"),
        (lambda _: Asker(np.zeros((5, 2)), random_share=2.0), "between 0 and 1"),
        (lambda _: Asker(np.zeros((5, 2)), n_classes=1), "at least 2"),
        (lambda _: Asker(pd.DataFrame({"x": [0, 1]}, index=["a", "a"])), "'a' more than once"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, message: str) -> None:
    asker = QuickAsker(gaussians()[0])
    with pytest.raises(ValueError, match=message):
        call(asker)


# --- what is learned --------------------------------------------------------------------------


def test_it_learns_two_classes() -> None:
    X, y = gaussians(300)
    asker = QuickAsker(X, random_state=0)
    assert asker.labels_ is None
    ask(asker, y, 60)
    assert share_right(asker.labels_, y) > 0.95
    for k in (0, 1):
        typical = asker.typical(k)
        assert len(typical) == 5
        assert len({y[row] for row in typical}) == 1


@pytest.mark.slow
def test_wrong_answers_are_seen_and_can_be_checked_again() -> None:
    X, y = gaussians(300)
    asker = QuickAsker(X, random_state=0)
    ask(asker, y, 120, error_rate=0.1)
    assert share_right(asker.labels_, y) > 0.93
    told = {(one.left, one.right): one.relation for one in asker.told}
    wrong = [
        (told[question.left, question.right] == "same") != (y[question.left] == y[question.right])
        for question in asker.suspects()[:5]
    ]
    assert len(wrong) >= 3
    assert np.mean(wrong) > 0.6


def test_an_error_rate_that_is_too_high_does_not_spoil_the_classifier() -> None:
    """With a rate of nearly one half, the best scores are those that say nothing."""
    X, y = gaussians()
    asker = QuickAsker(X, random_state=0)
    asker._fitter.close()
    ask(asker, y, 60, error_rate=0.1)
    asker._error_rate = 0.45
    asker._fit()
    clf = asker.classifier_
    assert clf is not None
    assert share_right(clf.predict(X), y) > 0.85
    assert clf.error_rate_ < 0.2


def test_scores_are_used_before_answers_speak_for_them_clearly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing foretells answers about open rows: a good classifier may show no signal in them."""
    monkeypatch.setattr("likewise.search.learn._ODDS", 1e300)  # no signal would be clear enough
    X, y = gaussians()
    asker = QuickAsker(X, random_state=0)
    ask(asker, y, 40)
    clf = asker.classifier_
    assert clf is not None
    assert not clf.has_signal_
    assert share_right(clf.predict(X), y) > 0.9
    clone = unfitted(clf)  # which the report judges it by
    with unsaid():
        clone.fit(*lw.pack(X, asker.answers))
    assert share_right(clone.predict(X), y) > 0.9


def test_rows_of_three_classes_take_few_answers() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = 4.0 * np.array([[0, 1], [1, -1], [-1, -1]])[y] + rng.normal(size=(300, 2))
    asker = QuickAsker(X, 3, random_state=0)
    asker._fitter.close()  # it does not choose questions here
    ask(asker, y, 80)
    groups = group_rows(300, *asker._statements(), 3)
    rows, classes = groups.classes()
    assert rows.size > 50  # 80 answers
    for k in range(3):
        assert len(set(y[rows[classes == k]])) == 1


def test_text_and_gaps_are_learned_from() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=120)
    table = pd.DataFrame(
        {"size": rng.normal(size=120) + 4 * y, "colour": np.where(y, "red", "blue")}
    ).mask(rng.random((120, 2)) < 0.1)
    asker = QuickAsker(table, random_state=0)
    asker._fitter.close()  # it does not choose questions here
    ask(asker, y, 40)
    asker = QuickAsker(table, answers=asker.told, random_state=0)
    asker.wait()
    assert share_right(asker.labels_, y) > 0.85


# --- progress ---------------------------------------------------------------------------------


def test_progress_says_when_to_stop() -> None:
    assert not judge_progress(0, []).enough
    rising = [Point(n, 0.9 - 2.0 / n, 0.7, 0.99) for n in (20, 40, 60, 80)]
    assert judge_progress(80, rising).why.endswith("not known well enough yet.")
    narrow = [Point(n, 0.9 - 8.0 / n, 0.86, 0.94) for n in (60, 80, 100, 120)]
    assert "more answers still help" in judge_progress(120, narrow).why
    flat = [Point(n, 0.9, 0.86, 0.94) for n in (80, 100, 120, 140, 160)]
    found = judge_progress(160, flat)
    assert found.enough
    assert found.interval == (0.86, 0.94)


def test_the_gain_is_read_off_the_curve() -> None:
    points = [Point(n, 0.9 - 0.5 / n**0.5, 0.0, 1.0) for n in (100, 150, 200, 300)]
    assert expected_gain(points) == pytest.approx(0.5 * (300**-0.5 - 450**-0.5))
    assert expected_gain(points[:3]) is None


@pytest.mark.slow
def test_progress_estimates_the_accuracy() -> None:
    X, y = gaussians(250)
    asker = Asker(X, random_state=0)
    rng = np.random.default_rng(0)
    for _ in range(60):
        left, right = rng.choice(250, 2, replace=False)
        asker.tell((left, right), "same" if y[left] == y[right] else "different")
    assert asker.wait()
    progress = asker.progress()
    assert progress.accuracy is not None
    assert progress.interval is not None
    fresh, truth = lw.datasets.make_gaussians(3000, separation=4.0, random_state=1)
    right = share_right(asker.classifier_.predict(fresh), truth)  # type: ignore[union-attr]
    assert progress.interval[0] - 0.02 < right <= progress.interval[1] + 0.02
    assert asker.history()[-1][1] == progress.accuracy


def test_few_answers_are_no_error_in_the_background() -> None:
    """The first answers hang together so closely that a fold may touch all of them."""
    X, y = gaussians(60)
    asker = Asker(X, random_state=0)
    for _ in range(13):
        question = asker.next()
        asker.tell(question, "same" if y[question.left] == y[question.right] else "different")
    assert asker.wait()  # which raises what went wrong


# --- in the background ------------------------------------------------------------------------


def test_questions_do_not_wait_for_a_fit() -> None:
    X, y = gaussians(300)
    may_end = threading.Event()

    class SlowAsker(QuickAsker):
        def _fit(self) -> None:
            may_end.wait()

    asker = SlowAsker(X, random_state=0)
    for _ in range(40):
        question = asker.next()
        asker.tell(question, "same" if y[question.left] == y[question.right] else "different")
    assert not asker.wait(0.0)  # the fit that 15 answers asked for goes on
    may_end.set()
    assert asker.wait()
    asker.close()


def test_a_worker_does_once_what_was_asked_for_often() -> None:
    done = []

    def job() -> None:
        done.append(1)
        time.sleep(0.05)

    worker = Worker(job)
    for _ in range(100):
        worker.poke()
    assert worker.wait(5)
    assert 1 <= len(done) <= 3
    worker.close()
    worker.poke()
    assert worker.wait(1)


def test_a_worker_keeps_no_thread_between_its_jobs() -> None:
    threads = []
    worker = Worker(lambda: threads.append(threading.current_thread()))
    for count in (1, 2):
        worker.poke()
        assert worker.wait(5)
        assert len(threads) == count
        threads[-1].join(5)
        assert not threads[-1].is_alive()


def test_an_asker_that_nobody_closes_leaves_no_thread_and_no_memory_behind() -> None:
    X, y = gaussians()
    before = set(threading.enumerate())
    asker = QuickAsker(X, random_state=0)
    ask(asker, y, 20)
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
    assert set(threading.enumerate()) <= before
    gone = weakref.ref(asker)
    del asker
    gc.collect()
    assert gone() is None


def test_an_error_in_the_background_is_told() -> None:
    def job() -> None:
        raise RuntimeError("no")

    worker = Worker(job)
    worker.poke()
    with pytest.raises(RuntimeError, match="no"):
        worker.wait(5)
    worker.close()
