"""One drawing of medians: a bar for each way, on a logarithmic scale, a panel for each comparison."""

import math
from xml.sax.saxutils import escape

from measure import number

OURS = "pyexecd"
WIDTH, NAMES, BAR, PANEL_GAP, RIGHT = 900, 330, 18, 44, 90
COLOURS = {"ours": "#1a7f5a", "base": "#444444", "other": "#b9c2cc"}
STYLE = ("<style>text{font:13px sans-serif;fill:#222}.title{font-weight:bold}"
         "@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>")


def colour(name, bases):
    if name.startswith(OURS):
        return COLOURS["ours"]
    return COLOURS["base" if name in bases else "other"]


def panel(title, found, top):
    """The lines for FOUND below TOP: what measure.statistics_of returns, with ratios."""
    low = math.log10(min(row["p50"] for row in found.values())) - 0.3
    high = math.log10(max(row["p95"] for row in found.values()))
    scale = (WIDTH - NAMES - RIGHT) / (high - low)

    def place(value):
        return NAMES + max(0, (math.log10(value) - low) * scale)

    yield f'<text class="title" x="8" y="{top}">{escape(title)}</text>'
    for index, (name, row) in enumerate(sorted(found.items(), key=lambda item: -item[1]["p50"])):
        y = top + 10 + index * (BAR + 4)
        end, late = place(row["p50"]), place(row["p95"])
        yield f'<text x="{NAMES - 8}" y="{y + 13}" text-anchor="end">{escape(name.replace("`", ""))}</text>'
        yield (f'<rect x="{NAMES}" y="{y}" width="{end - NAMES:.1f}" height="{BAR}" '
               f'fill="{colour(name, row.get("of", {}))}"/>')
        yield (f'<path d="M{end:.1f} {y + BAR / 2}H{late:.1f}M{late:.1f} {y + 4}v{BAR - 8}" stroke="#888" fill="none"/>')
        yield f'<text x="{late + 6:.1f}" y="{y + 13}">{number(row["p50"])} ms</text>'


def drawing(panels):
    """The SVG of PANELS: title -> what measure.statistics_of returns."""
    lines, top = [], 28
    for title, found in panels.items():
        lines += panel(title, found, top)
        top += len(found) * (BAR + 4) + PANEL_GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}">'
    return "\n".join([head, STYLE, *lines, "</svg>", ""])
