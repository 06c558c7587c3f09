"""Settings of Sphinx. `make docs` builds docs/ into build/docs; warnings are errors there, and nothing is fetched."""

from __future__ import annotations

import importlib
import re
from importlib.metadata import metadata
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from matplotlib.figure import Figure
from sphinx.domains.python import PyXRefRole
from sphinx.util import logging
from sphinx_gallery.scrapers import figure_rst

import fastpu
import fastpu.dask
import fastpu.estimators
from fastpu.common._methods import DECLARED, function_of

if TYPE_CHECKING:
    from typing import Any

    from docutils.parsers.rst.states import Inliner
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

HERE = Path(__file__).parent
project = "fastpu"
author = copyright = "The fastpu developers"  # noqa: A001 - the name that Sphinx reads
version = release = fastpu.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = [
    "_templates",
    "defaults_table.md",
    "does_it_help_calls_table.md",
    "does_it_help_table.md",
    "few_labels_table.md",
    "gallery/uses",
    "gallery/GALLERY_HEADER.rst",
]  # parts of other pages
templates_path = ["_templates"]
nitpicky = True

html_theme = "furo"
html_title = f"fastpu {release}"
# The address is in the package's metadata as soon as the project has one; then pages have links to their sources.
_links = dict(line.split(", ", 1) for line in metadata("fastpu").get_all("Project-URL") or [])
if "Repository" in _links:
    html_theme_options = {
        "source_repository": _links["Repository"],
        "source_branch": "main",
        "source_directory": "docs/",
    }
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_copy_source = False
html_math_renderer = "mathml"  # below: browsers draw it themselves, so that pages need no script and no network

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

# `name` in a docstring is a link where there is such a name, else code.
default_role = "name"
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# What the docstrings of Python's own classes, from which ours inherit, refer to.
nitpick_ignore_regex = [("py:.*", r"(Exception|BaseException|UserWarning|tuple)(\..*)?")]

_drawn: WeakSet[Figure] = WeakSet()


def _named_figure(_block: object, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Show the figure that the last line of a block names, as a notebook does; pyplot knows nothing of it."""
    figure = block_vars["example_globals"].get("___")  # the value of the last expression, maybe of an earlier block
    if not isinstance(figure, Figure) or figure in _drawn:
        return ""
    _drawn.add(figure)
    path = next(block_vars["image_path_iterator"])
    figure.set_figwidth(7)  # all pictures have one width
    figure.savefig(path, dpi=150)
    return figure_rst([path], gallery_conf["src_dir"])


# Pages with pictures, notebooks and scripts from the files in examples/gallery, which are run.
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": [
        "screening.py",
        "svm_or_forest.py",
        "explain_a_forest.py",
        "labels_not_at_random.py",
        "presence.py",
        "check_rows.py",
        "plots.py",
    ].index,
    "image_scrapers": (_named_figure,),
    "ignore_repr_types": r"matplotlib\.figure",
    "reset_modules": (),
    "backreferences_dir": "gallery/uses",
    "doc_module": "fastpu",
    "first_notebook_cell": "%matplotlib inline",  # without it a notebook shows no figure that pyplot does not know of
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
}
suppress_warnings = ["config.cache"]  # Sphinx cannot store the function above with its settings

logger = logging.getLogger(__name__)

# The public modules by their short names.
MODULES = {
    "": fastpu,
    "audit": fastpu.audit,
    "baselines": fastpu.baselines,
    "dask": fastpu.dask,
    "datasets": fastpu.datasets,
    "estimators": fastpu.estimators,
    "exceptions": fastpu.exceptions,
    "metrics": fastpu.metrics,
    "models": fastpu.models,
    "objectives": fastpu.objectives,
    "plot": fastpu.plot,
    "priors": fastpu.priors,
}

# Public names that are neither functions nor classes, which autosummary does not find where they are imported.
autosummary_context = {
    "data": {
        module.__name__: [name for name in module.__all__ if name.isupper() and not callable(getattr(module, name))]
        for module in MODULES.values()
    },
    # Names that `fastpu` has too have their entries there.
    "elsewhere": {
        module.__name__: [
            name
            for name in module.__all__
            if module is not fastpu and getattr(module, name) is getattr(fastpu, name, None)
        ]
        for module in MODULES.values()
    },
}

# Sections of a docstring that hold running text; in the others, indentation has a meaning of its own.
_TEXT_SECTIONS = {"", "Notes", "References"}
_CODE = re.compile(r"(``.*?``|:\w+:`.*?`)")


def _docstring_to_rest(_app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Make formulas in plain text, as `help` shows them, literal blocks, and escape bars, which mean substitutions."""
    result: list[str] = []
    section, literal, in_directive = "", False, False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if following and set(following) == {"-"}:
            section = line.strip()
        indented = line.startswith("    ")
        if line and not indented:
            literal, in_directive = False, line.startswith(("..", ">>>"))
        if indented and section in _TEXT_SECTIONS and not literal and not in_directive and result and not result[-1]:
            if not (len(result) > 1 and result[-2].endswith("::")):
                result += ["::", ""]
            literal = True
        is_code = literal or in_directive or line.lstrip().startswith((">>>", "..."))
        if not is_code and section != "Examples":
            parts = _CODE.split(line)
            parts[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
            result.append("".join(parts))
        else:
            result.append(line)
    lines[:] = result


def _skip_foreign(_app: Sphinx, _what: str, _name: str, member: object, _skip: bool, _options: object) -> bool | None:
    """Leave out what classes inherit from other packages, and the field aliases of named tuples."""
    module = getattr(getattr(member, "fget", member), "__module__", None)
    is_foreign = isinstance(module, str) and not module.startswith("fastpu")
    return True if is_foreign or type(member).__name__ == "_tuplegetter" else None


def _colour_examples(_app: Sphinx, document: nodes.document) -> None:
    """Colour indented examples, which Markdown gives no language, as Python sessions."""
    for block in document.findall(nodes.literal_block):
        if block.astext().startswith(">>>"):
            block["language"] = "pycon"


def _rooms() -> dict[str, list[str]]:
    """Return the methods of each room, by the words that its package has about it."""
    rooms: dict[str, list[str]] = {}
    for name in DECLARED:
        package = importlib.import_module(function_of(name).__module__.rpartition(".")[0])
        rooms.setdefault((package.__doc__ or "").partition(".\n")[0].rstrip("."), []).append(name)
    return rooms


#: Methods of a paper that share the page of another one of it.
ON_PAGE_OF = {"fit_ipsi": "fit_isvm", "fit_gllc": "fit_pual", "fit_smc": "fit_svmc", "fit_pu_svm_path": "fit_svm_path"}


def _page(name: str) -> str:
    """Return where the page of a method is in docs/methods; baselines have one page."""
    room = function_of(name).__module__.split(".")[1]
    return "baselines" if DECLARED[name].baseline else f"{room}/{ON_PAGE_OF.get(name, name)}"


def _lists() -> str:
    """Return the lists of the pages of methods, one for each room."""
    lists = []
    for words, names in _rooms().items():
        titles: dict[str, str] = {}
        for name in (name for name in names if not DECLARED[name].baseline):
            before = titles.get(_page(name))
            titles[_page(name)] = (f"{before}, " if before else "") + f"{name} ({DECLARED[name].title})"
        pages = dict.fromkeys(map(_page, names))
        lines = "".join(f"{titles.get(page, 'Baselines')} <{page}>\n" for page in pages)
        lists.append(f"```{{toctree}}\n:caption: '{words}'\n:maxdepth: 1\n\n{lines}```\n")
    return "\n".join(lists)


def _table() -> str:
    """Return the tables of what each method takes: the methods of `fastpu`, and the baselines."""
    columns = "CSR | `sample_weight` | NaN | inf | float32 | `BinnedFeatures` | categories |"
    heads = {
        False: [f"| function | class in `estimators` | rows | {columns}", "|---" * 10 + "|"],
        True: ["", f"| function of `fastpu.baselines` | rows | {columns}", "|---" * 9 + "|"],
    }
    lines = []
    for tier, head in heads.items():
        lines += head
        for name, m in DECLARED.items():
            if m.baseline == tier:
                marks = (m.csr, m.weights, m.nan, m.inf, m.float32, m.binned, m.categories)
                cells = [f"`{name}`", *([f"`{m.classifier}`"] if m.classifier else []), m.rows]
                lines.append(f"| {' | '.join([*cells, *('yes' if mark else 'no' for mark in marks)])} |")
    return "\n".join(lines)


def _summaries() -> str:
    """Return tables of the methods, one for each room, with the first sentence of each docstring."""
    tables = []
    for words, names in _rooms().items():
        lines = [f"| `{name}` | {function_of(name).__doc__.partition(chr(10))[0]} |" for name in names]
        tables.append("\n".join([f"### {words}", "", "| function | what it does |", "|---|---|", *lines, ""]))
    return "\n".join(tables)


def _comparison() -> str:
    """Return the table that compares all methods, of the rows with which their pages begin."""
    head, lines = "", []
    for name, method in DECLARED.items():
        page = f"methods/{_page(name)}.md"
        text = (HERE / page).read_text()
        if method.baseline:
            row, link = text.partition(f"\n| `{name}` ")[2].partition("\n")[0], f"{page}#{name}"
        else:
            is_first = name not in ON_PAGE_OF
            own = text if is_first else text.partition(f"\n## {name}\n")[2]
            head, _, row = own.partition("\n| ")[2].split("\n")[:3]
            link = page if is_first else f"{page}#{name}"
        lines.append(f"| [{name}]({link}) | {method.rows} {row.replace('](../../', '](')}")
    return "\n".join([f"| method | rows of | {head}", "|---|---" + "|---" * head.count("|") + "|", *lines, ""])


#: What stands in a page for a list that is made of the declarations of the methods.
LISTS = {"methods": _lists, "table": _table, "summaries": _summaries, "comparison": _comparison}


def _write_lists(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Put the lists in their places."""
    for name, written in LISTS.items():
        if f"\n% {name}\n" in source[0]:
            source[0] = source[0].replace(f"\n% {name}\n", f"\n{written()}\n")


def _mathml(tex: str, node: nodes.Node, *, as_block: bool) -> str:
    """Return a formula as MathML; equations with a blank line between them are lines, aligned where there is an &."""
    lines = [line.strip() for line in tex.split("\n\n") if line.strip()]
    if as_block and (len(lines) > 1 or "&" in tex) and r"\begin" not in tex:
        tex = r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"
    tex = re.sub(r"\\([td]?frac)(\d)(\d)", r"\\\1{\2}{\3}", tex)  # docutils reads no \frac12
    try:
        # Bars of absolute values and norms are as high as a line: browsers would stretch them, often one of the two.
        formula = tex2mathml(tex, as_block=as_block)
        return re.sub(r"<mo(?: class=\"mathopen\")?>([|‖∥])</mo>", r'<mo stretchy="false">\1</mo>', formula)
    except (MathError, AttributeError) as error:  # the latter where braces do not match
        logger.warning("formula %r: %s", tex, error, location=node)
        return ""


def _visit_math(self: object, node: nodes.math) -> None:
    self.body.append(_mathml(node.astext(), node, as_block=False))
    raise nodes.SkipNode


def _visit_math_block(self: object, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{_mathml(node.astext(), node, as_block=True)}</div>')
    raise nodes.SkipNode


def _name_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, options: object = None, content: object = ()
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Make `text` a link where it is a public name or a method of one, else code."""
    head, _, method = text.removeprefix("fastpu.").partition(".")
    if head in MODULES:
        head, _, method = method.partition(".")
    for module in (module for module in MODULES.values() if head in module.__all__):
        item = getattr(module, head)
        if not method or callable(getattr(item, method, None)):
            target = ".".join(part for part in (module.__name__, head, method) if part)
            return PyXRefRole()("py:obj", rawtext, f"{text} <{target}>", lineno, inliner)
    return [nodes.literal(rawtext, text)], []


def _check_names(_app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of every public name that has no entry in the reference."""
    for module in MODULES.values():
        for name in sorted({*module.__all__} - {*autosummary_context["elsewhere"][module.__name__], "__version__"}):
            full = f"{module.__name__}.{name}"
            if full not in env.domains.python_domain.objects:
                logger.warning("%s is not in the reference", full)


def setup(app: Sphinx) -> None:
    app.connect("source-read", _write_lists)
    app.connect("doctree-read", _colour_examples)
    app.connect("autodoc-process-docstring", _docstring_to_rest, priority=100)  # before numpydoc
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("env-check-consistency", _check_names)
    app.add_role("name", _name_role)
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
