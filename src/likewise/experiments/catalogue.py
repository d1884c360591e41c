"""All experiments by name, in the order in which they are run and reported."""

from likewise.experiments import benchmark, coverage, half, losses, nets, prior, theory, unlabeled
from likewise.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        losses.EXPERIMENT,
        theory.EXPERIMENT,
        prior.EXPERIMENT,
        unlabeled.EXPERIMENT,
        benchmark.EXPERIMENT,
        half.EXPERIMENT,
        coverage.EXPERIMENT,
        nets.EXPERIMENT,
    )
}
