"""Builds the documentation as static pages with a search, by Sphinx, from the Markdown files of this repository.

    tools/bazel build //docs:site    # bazel-bin/docs/site/index.html

The files are written for readers of the repository: a link to a folder is a link to the folder's README, and a link to
a file that is no page loses its target. A link to a page or a heading that does not exist fails the build.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from absl import app, flags
from sphinx.cmd.build import main as sphinx

_FILE = flags.DEFINE_multi_string("file", [], "A page or image: its path in the repository, `=`, its path here.")
_SECTION = flags.DEFINE_multi_string(
    "section",
    [],
    "A section of the contents: title, `=`, pages separated by commas. The last has pages that none names, too.",
)
_OUTPUT = flags.DEFINE_string("output", "site", "The folder to write.")

_START = "README.md"
_CONF = """
project = "rules_executorch"
extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "rules_executorch"
html_static_path = ["_own"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
pygments_style = "friendly"
pygments_dark_style = "github-dark-colorblind"
"""
# Names of targets and operators are longer than a phone is wide.
_CSS = """
article code.literal, article h1, article h2, article h3, article a { overflow-wrap: anywhere; }
article table code.literal { overflow-wrap: normal; }
"""

_FENCE = re.compile(r"\s*(```|~~~)")
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)")


def for_site(page: str, text: str, pages: Mapping[str, str]) -> str:
    """The text of a page with its links changed.

    Args:
        page: the path of the page in the repository.
        text: what stands there.
        pages: the files of the site, by their paths in the repository.
    """
    lines, in_fence = [], False
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_fence = not in_fence
        lines.append(line if in_fence else _LINK.sub(lambda match: _link(page, match, pages), line))
    return "\n".join(lines)


def _link(page: str, match: re.Match[str], pages: Mapping[str, str]) -> str:
    target, _, anchor = match["target"].partition("#")
    if "://" in target or not target:
        return match[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    found = pages.get(path) or pages.get(posixpath.join(path, _START))
    if found is None:
        return match["text"]
    way = posixpath.relpath(found, posixpath.dirname(pages[page]) or ".")
    return f"{match['image']}[{match['text']}]({way}{'#' + anchor if anchor else ''})"


def contents(sections: Mapping[str, Sequence[str]], pages: Mapping[str, str]) -> str:
    """The contents of the site, for the end of its first page."""
    parts = []
    for title, listed in sections.items():
        names = "\n".join(pages[page].removesuffix(".md") for page in listed)
        parts.append(f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n:caption: {title}\n\n{names}\n```\n")
    return "\n".join(parts)


def _staged(path: str) -> str:
    return "index.md" if path == _START else path


def build(files: Mapping[str, Path], sections: Mapping[str, Sequence[str]], output: Path) -> int:
    """Writes the site and returns Sphinx's exit code."""
    pages = {path: _staged(path) for path in files}
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "source"
        for path, file in files.items():
            staged = source / pages[path]
            staged.parent.mkdir(parents=True, exist_ok=True)
            if not path.endswith(".md"):
                staged.write_bytes(file.read_bytes())
                continue
            text = for_site(path, file.read_text(), pages)
            staged.write_text(f"{text}\n{contents(sections, pages)}" if path == _START else text)
        (source / "_own").mkdir()
        (source / "_own" / "site.css").write_text(_CSS)
        (source / "conf.py").write_text(_CONF)
        # Sphinx copies the time that this variable names into its output, instead of the present one.
        os.environ["SOURCE_DATE_EPOCH"] = "0"
        options = ["-q", "-W", "--keep-going", "-b", "html", "-d", f"{directory}/trees"]
        code: int = sphinx([*options, str(source), str(output)])
        (output / ".buildinfo").unlink(missing_ok=True)
        return code


def main(argv: Sequence[str]) -> None:
    del argv
    files = {path: Path(file) for path, _, file in (value.partition("=") for value in _FILE.value)}
    sections = {title: listed.split(",") for title, _, listed in (value.partition("=") for value in _SECTION.value)}
    listed_pages = {page for listed in sections.values() for page in listed}
    [*_, last] = sections.values()
    last += [path for path in files if path.endswith(".md") and path != _START and path not in listed_pages]
    sys.exit(build(files, sections, Path(_OUTPUT.value)))


if __name__ == "__main__":
    app.run(main)
