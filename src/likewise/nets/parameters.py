"""What users may pass to a net, and what their module may return: checked, with reasons."""

from numbers import Real
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from likewise.nets.classifier import PairNetClassifier

__all__ = ["as_scores", "check_parameters"]


def check_parameters(net: "PairNetClassifier") -> None:
    """Raise an error that names the first wrong parameter.

    Parameters
    ----------
    net : PairNetClassifier
    """
    counts = (
        ("n_classes", 2),
        ("restarts", 1),
        ("moves", 0),
        ("max_steps", 1),
        ("max_epochs", 1),
    )
    for name, least in (*counts, ("batch_size", 1), ("unlabeled_size", 0)):
        if int(getattr(net, name)) != getattr(net, name) or getattr(net, name) < least:
            raise ValueError(
                f"{name} must be a whole number of at least {least}; got {getattr(net, name)!r}."
            )
    rate = net.error_rate
    if rate != "auto" and not (isinstance(rate, Real) and 0.0 <= float(rate) < 0.5):
        raise ValueError(f"error_rate must be 'auto', or in [0, 0.5); got {rate!r}.")
    if not (net.consistency in (None, "adversarial") or callable(net.consistency)):
        raise ValueError(
            f"consistency must be 'adversarial', a function or None; got {net.consistency!r}."
        )
    if net.amp not in (None, "bfloat16"):
        raise ValueError(f"amp must be None or 'bfloat16'; got {net.amp!r}.")
    if net.positive not in ("majority", "minority"):
        raise ValueError(f"positive must be 'majority' or 'minority'; got {net.positive!r}.")
    if net.neighbors != "auto" and (isinstance(net.neighbors, str) or net.neighbors < 0):
        raise ValueError(f"neighbors must be 'auto' or a number from 0 on; got {net.neighbors!r}.")
    if net.validation is None and (net.restarts > 1 or rate == "auto"):
        raise ValueError(
            "Without held-out statements nothing chooses among starts or error rates: pass "
            "restarts=1 and an error_rate, or a share as `validation`."
        )
    if net.validation is not None and not 0.0 < net.validation <= 0.5:
        raise ValueError(f"validation must be None, or in (0, 0.5]; got {net.validation!r}.")


def as_scores(out: Any, n_classes: int) -> Tensor:
    """Check what a module returned; of two classes it may be one column, log-odds of the second.

    Parameters
    ----------
    out : Tensor, or tuple that begins with one
    n_classes : int

    Returns
    -------
    Tensor of shape (n_rows, n_classes)
    """
    if isinstance(out, tuple):
        out = out[0]
    if n_classes == 2 and (out.ndim == 1 or out.shape[1:] == (1,)):
        out = out.reshape(-1, 1)
        return torch.cat([torch.zeros_like(out), out], dim=1)
    if out.ndim != 2 or out.shape[1] != n_classes:
        raise ValueError(
            f"The module must return scores of shape (n_rows, {n_classes}), but it returned "
            f"{tuple(out.shape)}."
        )
    scores: Tensor = out
    return scores
