"""
Questions worth asking
======================

After a few random pairs, `likewise.Asker` compares a row whose class is uncertain with one whose
class is certain. The second picture shows that the rows asked about lie near the boundary.
"""

import matplotlib.pyplot as plt

import likewise as lw

points, hidden = lw.datasets.make_gaussians(300, separation=3, random_state=0)
asker = lw.Asker(points, random_state=0)
asked = []
for _ in range(60):
    question = asker.next()
    asked.append((question.left, question.right))
    same = hidden[question.left] == hidden[question.right]
    asker.tell(question, "same" if same else "different")
    asker.wait()  # fits go on in the background; waiting makes every run draw the same
print(asker.progress())

fig, axes = plt.subplots(1, 2, figsize=(8, 3.8), sharey=True, layout="constrained")
for ax, some, title in zip(axes, (asked[:30], asked[30:]), ("first 30", "next 30"), strict=True):
    ax.scatter(*points.T, c=asker.labels_, s=8, cmap="coolwarm", alpha=0.5)
    ax.plot(*points[some].transpose(2, 1, 0), color="black", lw=0.7)
    ax.set(title=f"{title} questions", xticks=[], yticks=[])
