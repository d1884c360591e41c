import numpy as np
import pytest
import torch

import likewise as lw
from likewise.nets import SULoss
from likewise.su.losses import get_loss
from likewise.su.risk import su_risk_of_decisions

LOSSES = ["logistic", "squared", "double_hinge"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("prior", [0.3, 0.7])
def test_value_is_the_risk_of_the_paper(loss: str, prior: float) -> None:
    rng = np.random.default_rng(0)
    left, right, alone = (rng.normal(size=n) for n in (20, 20, 50))
    expected = su_risk_of_decisions(left, right, alone, prior=prior, loss=loss).value
    members = torch.as_tensor(np.concatenate([left, right]))
    found = SULoss(loss, prior=prior)(members, torch.as_tensor(alone))
    assert float(found) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_parts_are_unbiased_against_monte_carlo(loss: str) -> None:
    rng = np.random.default_rng(1)
    prior, n_draws, size = 0.7, 300, 400
    share = prior**2 / (prior**2 + (1 - prior) ** 2)
    psi = get_loss(loss).value

    def decisions(classes: np.ndarray) -> np.ndarray:
        return np.asarray(1.5 * classes + rng.normal(size=classes.size))

    def draw(p: float, n: int) -> np.ndarray:
        return np.where(rng.random(n) < p, 1, -1)

    many = 400_000
    expected = [
        prior * psi(decisions(np.ones(many)), 1).mean(),
        (1 - prior) * psi(decisions(-np.ones(many)), -1).mean(),
    ]
    su = SULoss(loss, prior=prior)
    found = []
    for _ in range(n_draws):
        pairs = draw(share, size)
        members = np.concatenate([decisions(pairs), decisions(pairs)])
        alone = decisions(draw(prior, size))
        found.append([float(part) for part in su.parts(torch.tensor(members), torch.tensor(alone))])
    error = np.std(found, axis=0) / np.sqrt(n_draws)
    assert (np.abs(np.mean(found, axis=0) - expected) < 4.0 * error + 0.003).all()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_linear_module_reaches_the_coefficients_of_the_classifier(loss: str) -> None:
    X, y = lw.datasets.make_gaussians(2000, random_state=0)
    sample = lw.datasets.sample_su(X, y, 200, 300, n_test=10, prior=0.7, random_state=0)
    table, labels = sample.pack()
    alpha = 0.1
    clf = lw.SUClassifier(loss=loss, prior=0.7, alpha=alpha).fit(table, labels)
    parts = lw.unpack(table, labels)
    members = torch.as_tensor(np.concatenate([parts.left, parts.right]), dtype=torch.float32)
    alone = torch.as_tensor(parts.unlabeled, dtype=torch.float32)
    module, su = torch.nn.Linear(table.shape[1], 1), SULoss(loss, prior=0.7)
    optimizer = torch.optim.LBFGS(
        module.parameters(), max_iter=500, tolerance_change=1e-12, line_search_fn="strong_wolfe"
    )
    penalized = _penalized(clf, alpha)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        value = su(module(members), module(alone)) + penalized(module)
        value.backward()
        return value

    optimizer.step(closure)
    assert module.weight.detach().numpy() == pytest.approx(clf.coef_, abs=2e-3)
    assert module.bias.detach().numpy() == pytest.approx(clf.intercept_, abs=2e-3)


def _penalized(clf: lw.SUClassifier, alpha: float):  # type: ignore[no-untyped-def]
    """Return the penalty that the classifier's own docstring states."""

    def value(module: torch.nn.Linear) -> torch.Tensor:
        both = torch.cat([module.weight.reshape(-1), module.bias])
        return 0.5 * alpha * both.square().sum()

    return value


def test_corrections_keep_the_value_from_falling_below_zero() -> None:
    similar = torch.full((4,), 3.0)
    alone = torch.full((4,), -3.0)
    plain = SULoss("logistic", prior=0.7)
    positive, negative = (float(part) for part in plain.parts(similar, alone))
    assert min(positive, negative) < 0
    corrected = SULoss("logistic", prior=0.7, correction="abs")
    assert float(corrected(similar, alone)) == pytest.approx(abs(positive) + abs(negative))
    clipped = SULoss("logistic", prior=0.7, correction="non-negative")
    assert float(clipped(similar, alone)) == pytest.approx(max(positive, 0.0) + max(negative, 0.0))


def test_the_gradient_of_a_negative_part_leads_out_of_it() -> None:
    similar = torch.full((4,), 3.0, requires_grad=True)
    alone = torch.full((4,), -3.0)
    plain = SULoss("logistic", prior=0.7)
    parts = plain.parts(similar, alone)
    slopes = [torch.autograd.grad(part, similar, retain_graph=True)[0] for part in parts]
    signs = [1.0 if part.item() >= 0 else -1.0 for part in parts]
    expected = sum(sign * slope for sign, slope in zip(signs, slopes, strict=True))
    (found,) = torch.autograd.grad(
        SULoss("logistic", prior=0.7, correction="non-negative")(similar, alone), similar
    )
    assert found.numpy() == pytest.approx(expected.numpy())


def test_what_cannot_be_learned_with_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be trained"):
        SULoss("zero_one", prior=0.7)
    with pytest.raises(ValueError, match=r"prior=0.5"):
        SULoss("squared", prior=0.5)
    with pytest.raises(ValueError, match="correction must be"):
        SULoss("squared", prior=0.7, correction="clip")
