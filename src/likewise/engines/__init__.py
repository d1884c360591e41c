"""Where rows live: an engine holds rows and sums functions of them block by block."""

from likewise.engines.base import Block, Engine, Part
from likewise.engines.memory import MemoryEngine
from likewise.engines.source import PairSource, open_engine

__all__ = ["Block", "Engine", "MemoryEngine", "PairSource", "Part", "open_engine"]
