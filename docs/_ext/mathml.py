"""Formulas as MathML, made when the site is built: no script, no font and nothing to download.

docutils translates LaTeX; browsers have drawn MathML themselves since 2023. A formula that docutils
cannot read is a warning, and `make docs` turns warnings into errors.
"""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

_SAME = {r"\dots": r"\ldots"}
"""Commands that docutils has under another name."""
_log = logging.getLogger(__name__)


def _mathml(node: Any, *, block: bool) -> str:
    formula = node.astext()
    for ours, theirs in _SAME.items():
        formula = formula.replace(ours, theirs)
    try:
        return tex2mathml(formula, as_block=block)
    except MathError as error:
        _log.warning("formula %r: %s", node.astext(), error, location=node)
        return ""


def visit_math(translator: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def visit_math_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own; one that is too wide scrolls inside its own box."""
    formula = _mathml(node, block=True)
    translator.body.append(f'<div class="formula" tabindex="0">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the renderer."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
