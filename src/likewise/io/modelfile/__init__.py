"""Model files: a closed format of plain values and arrays, every one checked before it is used.

`archive` reads and writes the container within limits, `arrays` the arrays in it; `kinds` says
what a value may be, and `own` and `sklearn_types` which attributes every type has. `brought` holds
what is not in these tables and needs trust. `tree` puts them together. Nothing here computes.
"""
