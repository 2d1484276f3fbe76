"""A report as one HTML page: nbconvert draws the cells' outputs, and everything that it shows is inside the file."""

from __future__ import annotations

import copy
import html
from typing import Any, Final

from recallkit.bounds import MIB

# What is shown of an output, the best first. Widgets are left out: their front end comes from a network.
_SHOWN: Final = ["text/html", "image/svg+xml", "image/png", "image/jpeg", "text/markdown", "text/plain"]
# A larger scrubber stands in a file of its own, beside the report.
INSIDE_BYTES: Final = 8 * MIB

_STYLE: Final = """
:root { color-scheme: light dark; --line: rgba(128,128,128,.35); --jp-code-font-family: ui-monospace, monospace; }
body { max-width: 64em; margin: 2em auto; padding: 0 1.2em; font: 15px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6em; } h2 { font-size: 1.25em; margin-top: 2em; }
a.anchor-link, .prompt { display: none; }
.output_subarea, .output_html, .rendered_html { overflow-x: auto; margin: .5em 0; }
pre, code { font: 12.5px/1.5 ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
svg, img { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 13px; margin: .5em 0; }
table.dataframe { border: 0; }
table.dataframe th, table.dataframe td {
  border: 0; border-bottom: 1px solid var(--line); padding: .25em .9em .25em 0; text-align: right; }
iframe { width: 100%; height: 46em; border: 1px solid var(--line); border-radius: 7px; }
details { margin: 2em 0; border-top: 1px solid var(--line); padding-top: .8em; }
@media print { iframe { display: none; } }
"""

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
{scrubber}
</main>
<details><summary>What the report was made with</summary>
<table>{parameters}</table>
</details>
</body>
</html>
"""


def render(notebook: Any, title: str, parameters: dict[str, Any], scrubber: str | None, beside: str) -> str:
    """Return a report's page.

    Parameters
    ----------
    notebook : notebook
        The executed template.
    title : str
        The page's title.
    parameters : dict
        What the report was made with, told at its end.
    scrubber : str or None
        The scrubber's page; it stands inside where it takes at most 8 MiB.
    beside : str
        The name of the file that holds it where it takes more.
    """
    shown = copy.deepcopy(notebook)
    # The template says on its first cell what it is; a reader of the report knows.
    shown.cells = [cell for cell in shown.cells[1:] if not _about_parameters(cell)]
    shown.metadata.pop("widgets", None)
    for cell in shown.cells:
        # Progress and warnings are the terminal's.
        cell.outputs = [each for each in cell.get("outputs", []) if each.output_type != "stream"]
    rows = "".join(
        f"<tr><th align=left>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
        for name, value in parameters.items()
    )
    return _PAGE.format(
        title=html.escape(title), style=_STYLE, body=_body(shown), scrubber=_frame(scrubber, beside), parameters=rows
    )


def fits_inside(scrubber: str | None) -> bool:
    """Whether the scrubber's page stands inside the report."""
    return scrubber is not None and len(scrubber) <= INSIDE_BYTES


def _frame(scrubber: str | None, beside: str) -> str:
    if scrubber is None:
        return ""
    head = "<h2>Event by event</h2>"
    if not fits_inside(scrubber):
        link = html.escape(beside, quote=True)
        return f'{head}<p>Scrub through the fold: <a href="{link}">{html.escape(beside)}</a>, beside this page.</p>'
    # A document of its own: neither page's styles or scripts reach the other, nor the reader's other pages.
    source = html.escape(scrubber, quote=True)
    return f'{head}<iframe title="The scrubber" sandbox="allow-scripts" srcdoc="{source}"></iframe>'


def _about_parameters(cell: Any) -> bool:
    tags = cell.metadata.get("tags", [])
    return "parameters" in tags or "injected-parameters" in tags


def _body(notebook: Any) -> str:
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    config = Config()
    config.NbConvertBase.display_data_priority = _SHOWN
    config.HTMLExporter.exclude_input = True
    config.HTMLExporter.exclude_input_prompt = True
    config.HTMLExporter.exclude_output_prompt = True
    exporter = HTMLExporter(config=config, template_name="basic")  # type: ignore[no-untyped-call]
    body: str = exporter.from_notebook_node(notebook)[0]
    return body
