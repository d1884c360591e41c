"""How Sphinx builds the site; `make docs` runs it. Why Sphinx: docs/contributing.md."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import likewise

# Pictures and tutorials are the same on every machine: no window, and one thread of BLAS.
os.environ.setdefault("MPLBACKEND", "Agg")

project = "likewise"
author = "The likewise developers"
project_copyright = f"{datetime.now(UTC).year}, {author}"
version = release = likewise.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "public_names",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "_tutorials",
    "results/README.md",
    "sg_execution_times.rst",
    "**/sg_execution_times.rst",
    "**/GALLERY_HEADER.rst",
]
templates_path = ["_templates"]
# A name between single backticks is a link where it is documented, else plain code.
default_role = "py:obj"

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Curly quotes, but no dashes out of the two hyphens of an option.
smartquotes_action = "qe"

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "likewise"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages without pages below them need no navigation at the left.
html_sidebars = {name: [] for name in ("index", "quickstart", "glossary", "faq", "whats-new")}

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": ["_tutorials", "../examples"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": r"(_tutorials/|plot_)",
    "ignore_pattern": r"(__init__|nets_\w+)\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": "reference/examples",
    "doc_module": ("likewise",),
    "prefer_full_module": {r"likewise"},
    "reference_url": {"likewise": None},
    "remove_config_comments": True,
    "capture_repr": ("_repr_html_", "__repr__"),
    "min_reported_time": 1_000_000,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "nested_sections": False,
    "matplotlib_animations": False,
    "image_srcset": ["2x"],
}
# sphinx-gallery lists functions and classes among its settings, which cannot be stored.
suppress_warnings = ["config.cache"]
