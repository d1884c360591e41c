"""Nets need torch: without it, their modules have no doctests that could run."""

from importlib.util import find_spec

collect_ignore_glob = (
    [] if find_spec("torch") and find_spec("skorch") else ["src/likewise/nets/*.py"]
)
