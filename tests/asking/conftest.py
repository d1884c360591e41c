"""Questions are tried here with quickly learned classifiers."""

from tests.candidates import few_candidates  # noqa: F401 - used by all tests here
