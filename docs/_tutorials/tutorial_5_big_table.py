"""
A table larger than memory
==========================

The rows are in a folder of Parquet files, more than fit into memory. `likewise.PairClassifier`
reads them block by block, a few times in all, and gets the same coefficients as in memory.
(This page writes a folder of modest size, so that it runs anywhere.)
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import likewise as lw

folder = Path(tempfile.mkdtemp())
(folder / "rows").mkdir()
rng = np.random.default_rng(0)
n_files, n_rows, n_columns = 8, 25_000, 8
direction = rng.normal(size=n_columns)
hidden = []
for number in range(n_files):
    classes = np.where(rng.random(n_rows) < 0.65, 1, -1)
    rows = rng.normal(size=(n_rows, n_columns)) + 0.6 * np.outer(classes, direction)
    columns = {"id": np.arange(n_rows) + number * n_rows}
    columns |= {f"x{j}": rows[:, j] for j in range(n_columns)}
    pq.write_table(pa.table(columns), folder / "rows" / f"part-{number}.parquet")
    hidden.append(classes)
hidden = np.concatenate(hidden)
size = sum(path.stat().st_size for path in (folder / "rows").iterdir())
print(f"{hidden.size:,} rows in {n_files} files, {size / 1e6:.0f} MB")

# %%
# The answers are a small table of ids: which rows were compared, and what was said.

pairs = rng.integers(hidden.size, size=(20_000, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
said = {
    name: pa.table({"left": pairs[which, 0], "right": pairs[which, 1]})
    for name, which in (("similar", same), ("dissimilar", ~same))
}
for name, one in said.items():
    pq.write_table(one, folder / f"{name}.parquet")

# %%
# A `likewise.PairSource` names the files. Nothing is read before ``fit``.

source = lw.PairSource(
    folder / "rows",
    similar=folder / "similar.parquet",
    dissimilar=folder / "dissimilar.parquet",
)
clf = lw.PairClassifier(features="linear", random_state=0).fit(source)
print(f"the rows were read {clf.n_passes_} times")
print(f"rows classified correctly: {np.mean(clf.labels_ == hidden):.4f}")

# %%
# Compare the direction found with the one that made the data:

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(5.6, 3), layout="constrained")
place = np.arange(n_columns)
ax.bar(place - 0.2, direction / np.linalg.norm(direction), 0.4, label="truth")
ax.bar(place + 0.2, clf.coef_[0] / np.linalg.norm(clf.coef_), 0.4, label="found")
ax.set(xticks=place, xticklabels=[f"x{j}" for j in place], ylabel="coefficient, scaled")
ax.legend(frameon=False)

# %%
# The same from the command line, where folders of Parquet files are enough. A Dask cluster and
# torch tensors on a GPU work the same way: see :doc:`/big-data`.
#
# .. code-block:: console
#
#    $ likewise fit rows/ answers.parquet --engine parquet -o model.skops
