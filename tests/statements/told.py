"""Statements as plain lists, to compare with."""

from itertools import pairwise

from likewise.statements.statements import Statements


def told(statements: Statements) -> list[tuple[bool, list[int]]]:
    """Every statement: whether its rows are alike, and which these are."""
    starts, members = statements.starts.tolist(), statements.members.tolist()
    rows = [members[start:stop] for start, stop in pairwise(starts)]
    return list(zip(statements.is_similar.tolist(), rows, strict=True))
