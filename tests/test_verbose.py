"""``verbose=True``: one line per step, from the call that was asked alone."""

import inspect
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise._verbose import step, telling

TALKERS = [
    lw.PairClassifier,
    lw.SUClassifier,
    lw.SUClassifierCV,
    lw.PairLikelihoodPrior,
    lw.PairMomentPrior,
    lw.estimate_prior,
    lw.label_free_report,
    lw.permutation_importance,
    lw.prior_sensitivity,
]


@pytest.fixture(scope="module")
def told() -> Any:
    X, y = lw.datasets.make_gaussians(3000, separation=4, random_state=0)
    return lw.datasets.sample_su(X, y, 60, 80, prior=0.7, random_state=0).pack()


@pytest.fixture(scope="module")
def asked() -> Any:
    X, y = lw.datasets.make_gaussians(3000, separation=4, random_state=0)
    return lw.datasets.sample_statements(X, y, 80, 100, random_state=0).pack()


def pair(**settings: Any) -> Any:
    return lw.PairClassifier(features="linear", alphas=[0.1], cv=2, random_state=0, **settings)


def lines_of(capsys: Any, who: str) -> list[str]:
    lines: list[str] = capsys.readouterr().out.splitlines()
    assert all(line.startswith(f"[{who}] ") for line in lines), lines
    return lines


@pytest.mark.parametrize("talker", TALKERS)
def test_what_takes_long_can_talk_and_is_silent_unless_asked(talker: Any) -> None:
    assert not inspect.signature(talker).parameters["verbose"].default


def test_a_fit_says_what_it_tried_and_chose(asked: Any, capsys: Any) -> None:
    pair().fit(*asked)
    assert capsys.readouterr().out == ""
    pair(verbose=True).fit(*asked)
    text = "\n".join(lines_of(capsys, "PairClassifier"))
    for what in ("linear features tried", "linear features chosen", "probabilities calibrated"):
        assert what in text


def test_numbers_of_classes_and_rounds_are_counted(asked: Any, capsys: Any) -> None:
    pair(n_classes="auto", verbose=1).fit(*asked)
    assert "2 classes tried" in "\n".join(lines_of(capsys, "PairClassifier"))
    pair(estimator=LogisticRegression(), verbose=1).fit(*asked)
    assert "round 1: " in "\n".join(lines_of(capsys, "PairClassifier"))


@pytest.mark.slow
def test_a_report_talks_for_the_copies_that_it_refits(told: Any, capsys: Any) -> None:
    clf = pair(pairing="random").fit(*told).set_params(verbose=1)
    lw.label_free_report(clf, *told, random_state=0)
    assert capsys.readouterr().out == ""
    lw.label_free_report(clf, *told, random_state=0, verbose=True)
    lines = lines_of(capsys, "label_free_report")
    assert sum("classifier refitted without fold" in line for line in lines) == 5
    assert "assumptions tested" in lines[-1]


def test_the_papers_classifiers_and_their_prior_talk(told: Any, capsys: Any) -> None:
    lw.SUClassifierCV("logistic", verbose=True, cv=2).fit(*told)
    lines = lines_of(capsys, "SUClassifierCV")
    assert "prior estimated: " in lines[0]
    assert sum("risk minimized at alpha 0.1" in line for line in lines) >= 2
    lw.prior_sensitivity(
        lw.SUClassifier("logistic", prior=0.7), *told, priors=[0.6, 0.8], verbose=True
    )
    assert "refitted at prior 0.800" in lines_of(capsys, "prior_sensitivity")[-1]
    lw.estimate_prior(*told, method="pair_moments", random_state=0, verbose=True)
    assert lines_of(capsys, "PairMomentPrior")


def test_silence_inside_of_what_talks_is_kept(capsys: Any) -> None:
    with telling("outer", True):
        with telling("inner", False):
            step("unheard")
        step("heard")
    step("unheard too")
    assert [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()] == ["heard"]
