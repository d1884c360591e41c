"""All of this needs torch and skorch; without them one test is left, which skips and says so."""

from importlib.util import find_spec

collect_ignore_glob: list[str] = []
if not (find_spec("torch") and find_spec("skorch")):
    collect_ignore_glob = ["test_[!w]*.py"]
