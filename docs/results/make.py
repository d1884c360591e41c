"""The table at the head of the README, made of the records beside this file.

``python docs/results/headline.py`` puts it between the marks in README.md; ``--check`` only says
whether it is there already.
"""

import json
import sys
from pathlib import Path

from likewise.experiments.methods import REFERENCE, title_of
from likewise.experiments.published import TABLE_4
from likewise.experiments.runner import Record
from likewise.experiments.statistics import group, mean_of

HERE = Path(__file__).parent
README = HERE.parent.parent / "README.md"
MARKS = "<!-- headline -->", "<!-- end of headline -->"
OURS = "pair-likelihood"


def headline(records: list[Record]) -> str:
    """Return the benchmark in five columns, as Markdown."""
    own = [record for record in records if record["experiment"] == "benchmark"]
    found = {
        (dataset, method): mean_of(some, "accuracy")
        for (dataset, method), some in group(own, "dataset", "method").items()
    }
    lines = [
        "| dataset | best in the paper | best rival, re-run | PairClassifier | all labels |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    totals = [0.0] * 4
    datasets = sorted({dataset for dataset, _ in found})
    for dataset in datasets:
        rivals = {
            method: mean
            for (name, method), mean in found.items()
            if name == dataset and method not in (OURS, REFERENCE) and mean.value is not None
        }
        best = max(rivals, key=lambda method: rivals[method].value or 0.0)
        printed = max(
            cell.accuracy for (name, _), cell in TABLE_4.items() if name == dataset and cell
        )
        means = [rivals[best], found[dataset, OURS], found[dataset, REFERENCE]]
        numbers = [printed, *(100 * (mean.value or 0.0) for mean in means)]
        errors = [
            f"{value:.1f} ({100 * (mean.standard_error or 0.0):.1f})"
            for value, mean in zip(numbers[1:], means, strict=True)
        ]
        cells = [f"{printed:.1f}", f"{errors[0]} {title_of(best)}", f"**{errors[1]}**", errors[2]]
        lines.append(f"| {dataset} | " + " | ".join(cells) + " |")
        totals = [total + number for total, number in zip(totals, numbers, strict=True)]
    means_of_all = [f"{total / len(datasets):.1f}" for total in totals]
    means_of_all[2] = f"**{means_of_all[2]}**"
    lines.append("| mean | " + " | ".join(means_of_all) + " |")
    return "\n".join(lines)


def read_records() -> list[Record]:
    """Return the committed records."""
    with (HERE / "records.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> None:
    """Put the table into the README, or check that it is there."""
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    made = f"{before}{MARKS[0]}\n{headline(read_records())}\n{MARKS[1]}{after}"
    if "--check" in sys.argv:
        sys.exit(0 if made == text else "README.md does not show what the records say")
    README.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
