"""The paper's method: losses, the unbiased risk, its objective, and solvers with certificates."""
