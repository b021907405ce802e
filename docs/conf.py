"""The site: Sphinx with MyST and Furo. `make docs` builds it without a network; warnings are errors."""

from pygments.lexers import CLexer, FortranFixedLexer, FortranLexer, PythonLexer
from sphinx.application import Sphinx

project = "Ranktree"
author = "the Ranktree authors"
project_copyright = author
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
nitpicky = True
highlight_language = "none"
html_theme = "furo"
html_title = "Ranktree"
html_theme_options = {"navigation_with_keys": True}
html_show_sourcelink = False
html_copy_source = False


def setup(app: Sphinx) -> None:
    """The languages of blocks whose names the tests use."""
    app.add_lexer("fortran77", FortranFixedLexer)
    for purpose in ("pattern", "grid"):
        app.add_lexer(f"c-{purpose}", CLexer)
        app.add_lexer(f"python-{purpose}", PythonLexer)
        app.add_lexer(f"fortran-{purpose}", FortranLexer)
