"""How Sphinx builds the documentation: `make docs`. Nothing is fetched, when it is built or when it is read."""

from __future__ import annotations

import sys
from pathlib import Path

import deadheat

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "site"), str(HERE.parent / "tests")]  # the tests know what other tools answer

project = "deadheat"
author = "the deadheat authors"
version = release = deadheat.__version__
html_title = "deadheat"

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
extensions += ["mathml", "made_pages", "plain_words"]  # docs/site
# what is not a page: scripts, and files of which a page shows parts
exclude_patterns = ["figures", "site", "templates"]
templates_path = ["templates"]
suppress_warnings = ["myst.header"]  # a page of docs/from begins with what is held, and needs no second heading
default_role = "code"  # one backtick is a name of the code, which need not be documented
nitpicky = False
smartquotes = False  # -- is an option

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections say them
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_static_path = ["style"]
html_extra_path = ["llms.txt"]
html_css_files = ["deadheat.css"]
html_js_files = ["filter.js"]
html_show_sphinx = False
html_show_search_summary = False  # they are fetched, which browsers refuse to do from file://
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": False}
html_math_renderer = "mathml"
pygments_style = "default"  # whose colours have the contrast that WCAG asks for
pygments_dark_style = "monokai"
