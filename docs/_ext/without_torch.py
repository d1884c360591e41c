"""The reference of `likewise.nets` where torch is not installed: stand-ins for the import alone.

Docstrings and signatures are all that the reference needs. Stand-ins are real classes, so that they
can be derived from and written in type hints; they are gone again once `likewise.nets` is imported.
"""

import importlib
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_MODULES = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.optim",
    "torch.utils",
    "torch.utils.data",
    "skorch",
    "skorch.callbacks",
)


class _StandIn:
    """A class that takes anything; as a decorator it changes nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __call__(self, function: Any = None) -> Any:
        return function


class _StandInModule(ModuleType):
    __path__: list[str] = []  # noqa: RUF012 - as modules have it
    __version__ = "0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        made = sys.modules.get(full) or type(name, (_StandIn,), {"__module__": self.__name__})
        setattr(self, name, made)
        return made


def import_nets() -> None:
    """Import `likewise.nets`, with torch or without."""
    if find_spec("torch") and find_spec("skorch"):
        importlib.import_module("likewise.nets")
        return
    stand_ins = {name: _StandInModule(name) for name in _MODULES}
    sys.modules.update(stand_ins)
    try:
        importlib.import_module("likewise.nets")
    finally:
        for name in stand_ins:
            del sys.modules[name]
