"""Draw the badge that says how many lines the tests run, from what coverage measured."""

import json
import sys
from pathlib import Path

SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="108" height="20" role="img" \
aria-label="coverage: {text}">
<title>coverage: {text}</title>
<rect width="108" height="20" rx="3" fill="#555"/>
<path d="M61 0h44a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-44z" fill="{color}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="30.5" y="14">coverage</text>
<text x="84.5" y="14">{text}</text>
</g>
</svg>
"""
COLORS = ((95.0, "#2b7a2b"), (80.0, "#8a6d00"), (0.0, "#a33"))


def main(measured: Path, badge: Path) -> None:
    """Write the badge of a run."""
    percent = json.loads(measured.read_text(encoding="utf-8"))["totals"]["percent_covered"]
    color = next(color for least, color in COLORS if percent >= least)
    # Rounded down: 94.96 % is not 95 %.
    text = f"{int(10 * percent) / 10:.1f} %"
    badge.write_text(SVG.format(text=text, color=color), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
