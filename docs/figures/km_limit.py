"""Draw what KM1 and KM2 estimate against what they should; docs/km-is-not-consistent.md.

``python docs/figures/km_limit.py measure`` draws samples and writes km_limit.csv, all of them;
``python docs/figures/km_limit.py`` draws km_limit.png from that file.
"""

import csv
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
RECORDS = HERE / "km_limit.csv"
PRIORS = (0.55, 0.6, 0.7, 0.8, 0.9)
SIZES = (100, 500, 2000)
SEEDS = range(5)
DISTANCE = 6.0
"""Between the centers of two Gaussian classes of unit variance with two features."""


def measure() -> None:
    """Estimate on every sample of the design and write one line for each."""
    from likewise import pack
    from likewise.prior.kernel_mean import KernelMeanPrior

    with RECORDS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["prior", "size", "seed", "variant", "kappa", "estimate", "at_end"])
        for size in SIZES:
            for prior in PRIORS:
                for seed in SEEDS:
                    rng = np.random.default_rng([seed, size, round(100 * prior)])
                    share = prior**2 / (prior**2 + (1 - prior) ** 2)
                    pair_class = rng.random(size) < share
                    unlabeled, left, right = (
                        rng.normal(size=(size, 2)) + DISTANCE * np.outer(classes, [1, 0])
                        for classes in (rng.random(size) < prior, pair_class, pair_class)
                    )
                    fitted = KernelMeanPrior().fit(*pack(unlabeled, (left, right)))
                    for variant, estimate in fitted.estimates_.items():
                        found = estimate.diagnostics
                        end = int(found["at_floor"] or found["at_ceiling"])
                        kappa, value = f"{found['kappa']:.4f}", f"{estimate.value:.4f}"
                        writer.writerow([prior, size, seed, variant, kappa, value, end])


def draw() -> None:
    """Draw the records beside the limit."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    with RECORDS.open(newline="") as file:
        records = list(csv.DictReader(file))
    prior = np.linspace(0.5, 0.999, 400)
    agree = prior**2 + (1 - prior) ** 2
    limit = agree / prior
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.9), sharex=True, layout="constrained")
    panels = (
        ("kappa", "share $\\kappa$ found in the unlabeled rows", agree, limit),
        ("estimate", "estimated prior", prior, (1 + np.sqrt(2 * limit - 1)) / 2),
    )
    looks = {"km1": ("o", "#0072B2", -1), "km2": ("s", "#D55E00", 1)}
    for ax, (field, title, truth, tends) in zip(axes, panels, strict=True):
        ax.plot(prior, truth, color="#1a1a1a", lw=1.6, label="truth")
        ax.plot(prior, tends, color="#1a1a1a", lw=1.6, ls="--", label="limit, separable classes")
        for variant, (marker, color, side) in looks.items():
            for k, size in enumerate(SIZES):
                chosen = [r for r in records if r["variant"] == variant and int(r["size"]) == size]
                ax.scatter(
                    [float(r["prior"]) + 0.004 * (side + 2.2 * (k - 1)) for r in chosen],
                    [float(r[field]) for r in chosen],
                    marker=marker,
                    s=(10, 18, 30)[k],
                    facecolors="none" if k < 2 else color,
                    edgecolors=color,
                    alpha=(0.45, 0.8, 0.8)[k],
                    linewidths=0.9,
                    label=f"{variant.upper()}, {size} pairs + {size} rows",
                )
        ax.set(xlabel="true share of the larger class", title=title, xlim=(0.5, 1.0))
        ax.grid(alpha=0.2)
    for ax, top in zip(axes, (1 - 1 / 8, (1 + np.sqrt(1 - 2 / 8)) / 2), strict=True):
        ax.axhline(top, color="#7f7f7f", lw=0.9, ls=":", label="right end of the search")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, frameon=False, loc="outside lower center", ncols=3)
    figure.savefig(HERE / "km_limit.png", dpi=90)


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        measure()
    draw()
