"""What a fit is made of: held-out evidence, stand-ins, the graph of near rows, moves."""

import numpy as np
import pytest
import torch

from likewise.nets.graph import first_guess, numbers_in_graph, spectral_features
from likewise.nets.judging import ERROR_RATES, Evidence, Judge, hold_out
from likewise.nets.moves import Move, propose
from likewise.nets.neighbors import StandIns
from likewise.nets.objective import information, surprise
from likewise.statements.labels import read_labels
from tests.nets.samples import blobs


def test_statements_that_touch_a_held_out_row_are_judged_and_not_learned_from() -> None:
    statements = read_labels(blobs(n_rows=200, n_pairs=150).y)
    held = hold_out(statements, 0.2, seed=0)
    links = held.train.links
    judged = set(zip(held.judged.left, held.judged.right, strict=True))
    assert links.left.size + len(held.judged.left) == statements.links.left.size
    assert not judged & set(zip(links.left, links.right, strict=True))


def test_too_few_statements_to_judge_by_are_an_error() -> None:
    with pytest.raises(ValueError, match="too few"):
        hold_out(read_labels(blobs(n_rows=200, n_pairs=8).y), 0.2, seed=0)


def _judged(scores: torch.Tensor, wrong: float, rates: tuple[float, ...]) -> Evidence:
    sample = blobs(n_rows=400, n_pairs=3000, wrong=wrong)
    links = read_labels(sample.y).links
    judge = Judge(links, np.arange(0), 3, "asked")
    own = scores[torch.as_tensor(sample.classes)][judge.rows]
    return judge.judge(own, own[:0], torch.full((3,), 1 / 3), rates)


def test_the_error_rate_is_found_by_held_out_answers() -> None:
    found = _judged(6.0 * torch.eye(3), 0.15, ERROR_RATES)
    assert found.error_rate == pytest.approx(0.15, abs=0.026)


def test_scores_that_are_too_sure_are_scaled_down() -> None:
    found = _judged(20.0 * torch.eye(3), 0.15, (0.0,))
    right = -(0.85 * np.log(0.85) + 0.15 * np.log(0.15))
    assert found.scale < 0.3
    assert -found.mean == pytest.approx(right, abs=0.05)


def test_better_means_better_by_more_than_the_standard_error() -> None:
    noise = np.random.default_rng(0).normal(size=100)
    base = Evidence(noise, 1.0, 0.0)
    assert Evidence(noise + 0.01, 1.0, 0.0).is_clearly_better(base)
    assert not Evidence(noise[::-1] + 0.01, 1.0, 0.0).is_clearly_better(base)


def test_stand_ins_are_the_nearest_rows() -> None:
    torch.manual_seed(0)
    table = torch.randn(80, 3)
    members = np.array([5, 17, 40])
    near = StandIns(table, members, np.arange(80), 4)
    expected = torch.cdist(table[members], table).topk(4, largest=False).indices
    assert torch.equal(near.of(torch.as_tensor(members)).sort(1).values, expected.sort(1).values)
    drawn = near.draw(torch.as_tensor(members), 1.0)
    assert all(int(one) in row for one, row in zip(drawn, expected.tolist(), strict=True))
    assert torch.equal(near.draw(torch.as_tensor(members), 0.0), torch.as_tensor(members))


@pytest.mark.slow
def test_spectral_features_are_leading_eigenvectors() -> None:
    """Against a dense solver, on three clouds that hardly touch."""
    torch.manual_seed(0)
    sample = blobs(n_rows=150)
    features = spectral_features(torch.as_tensor(sample.X), 3)
    assert features.norm(dim=1).numpy() == pytest.approx(5.0, rel=1e-4)
    guess = first_guess(torch.as_tensor(sample.X), read_labels(sample.y).links, 3, 0.0)
    assert guess.sum(dim=1).numpy() == pytest.approx(1.0, rel=1e-5)
    table = np.zeros((3, 3))
    np.add.at(table, (guess.argmax(1).numpy(), sample.classes), 1)
    assert table.max(axis=0).sum() / 150 > 0.93


def test_a_graph_has_all_members_of_statements() -> None:
    members = np.array([3, 700, 999])
    found = numbers_in_graph(1000, members, 100, np.random.RandomState(0))
    assert found.size == np.unique(found).size == 100
    assert set(members) <= set(found.tolist())
    assert np.array_equal(numbers_in_graph(50, members, 100, np.random.RandomState(0)), range(50))


def test_the_move_that_undoes_a_wrong_optimum_is_proposed() -> None:
    """Classes 0 and 1 share an output; class 2 has two."""
    rng = np.random.default_rng(0)
    classes = rng.integers(4, size=(2000, 2))
    halves = rng.integers(2, size=(2000, 2))
    outputs = np.select([classes <= 1, classes == 2], [0, 1 + halves], 3)
    left, right = (0.96 * np.eye(4)[outputs[:, side]] + 0.01 for side in (0, 1))
    is_similar = classes[:, 0] == classes[:, 1]
    move = propose(left, right, is_similar, 0.0, set())
    assert move == Move(split=0, kept=1, freed=2)
    assert propose(left, right, is_similar, 0.0, {move}) != move
    after = move.taught(left)
    assert after.sum(axis=1) == pytest.approx(left.sum(axis=1))
    assert after[:, 1] == pytest.approx(left[:, 1] + left[:, 2])
    assert after[:, 0] == pytest.approx(after[:, 2])


def test_two_classes_have_no_move() -> None:
    p = np.full((3, 2), 0.5)
    assert propose(p, p, np.array([True, False, True]), 0.0, set()) is None


def test_information_is_that_of_its_definition() -> None:
    torch.manual_seed(0)
    scores = torch.randn(2, 40, 3)
    p = scores.softmax(-1)
    shares = p.mean(1)
    expected = -4 * (shares * shares.log()).sum(-1) + (p * p.log()).sum(-1).mean(1)
    assert information(scores).numpy() == pytest.approx(expected.numpy(), rel=1e-5)


def test_surprise_is_what_a_model_without_features_has() -> None:
    sample = blobs(n_pairs=400)
    share = sample.is_similar.mean()
    expected = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert surprise(read_labels(sample.y).links, 3, "asked") == pytest.approx(expected)
    assert surprise(read_labels(sample.y).links, 3, "random") == pytest.approx(np.log(3))
