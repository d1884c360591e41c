"""
Asking people, with the page
============================

What if there are no statements yet? ``likewise ask`` opens a page in the browser that shows two
rows at a time and asks whether they are the same:

.. code-block:: console

   $ pip install 'likewise[cli,ask]'
   $ likewise ask samples.csv

.. image:: /figures/asking.png
   :alt: The page: two rows side by side, buttons, the accuracy so far, and the classes found

The page chooses questions that are worth asking, shows how accurate the classifier already is, and
says when you can stop. See :doc:`/asking` for everything it can do. On this page a program plays
the person who answers, so that you can follow what happens behind it.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

import likewise as lw

data = load_breast_cancer()
names = [str(name).removeprefix("mean ") for name in data.feature_names[:6]]
table = data.data[:300, :6]
hidden = data.target[:300]

# %%
# `likewise.Asker` is what the page runs on. ``next`` gives a question, ``tell`` takes the answer.

asker = lw.Asker(table, random_state=0)
question = asker.next()
print(question)

# %%
# Answer 90 questions. Fits run in the background, and no question waits for them. Here we wait
# after every answer, so that this page shows the same on every machine.

for count in range(1, 91):
    same = hidden[question.left] == hidden[question.right]
    asker.tell(question, "same" if same else "different")
    asker.wait()
    question = asker.next()
    if count in (30, 60, 90):
        progress = asker.progress()
        print(f"{count} answers: accuracy {progress.accuracy:.3f}; enough: {progress.enough}")

# %%
# The curve is the one that the page draws: the accuracy on new rows, estimated without labels, with
# its 95 % interval, after every fit.

import matplotlib.pyplot as plt

answers, value, low, high = np.array(asker.history()).T
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(answers, value, "o-")
ax.fill_between(answers, low, high, alpha=0.2)
ax.set(xlabel="answers", ylabel="estimated accuracy")

share = np.mean((asker.labels_ == 1) == hidden)
print(f"rows of the table classified correctly: {max(share, 1 - share):.3f}")

# %%
# From the page to a model
# ------------------------
# The page saves every answer in a file, and ``likewise fit`` takes that file. Here we write the
# same answers as a CSV file of pairs.

folder = Path(tempfile.mkdtemp())
with (folder / "samples.csv").open("w", newline="") as file:
    csv.writer(file).writerows([["id", *names], *([f"s{i}", *row] for i, row in enumerate(table))])
with (folder / "pairs.csv").open("w", newline="") as file:
    said = [[f"s{one.left}", f"s{one.right}", one.relation] for one in asker.told]
    csv.writer(file).writerows([["left", "right", "relation"], *said])

command = ["fit", "samples.csv", "pairs.csv", "-o", "model.skops", "--errors", "auto"]
done = subprocess.run(
    [sys.executable, "-m", "likewise.cli", *command],
    cwd=folder,
    capture_output=True,
    text=True,
    check=True,
)
print("$ likewise", *command)
print(done.stdout)
