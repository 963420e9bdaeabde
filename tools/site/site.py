"""Builds the documentation as static pages with a search, by Sphinx, from the Markdown files of this repository.

    tools/bazel build //docs:site    # bazel-bin/docs/site/index.html

The links of the files are for the repository. A link to a folder leads to the folder's README. A link to another file,
or to a folder without a README, leads to a page with the file or the list of the folder. Such a page needs no server,
and shows the same version. A link to a missing file fails the build.
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
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.cmd.build import main as sphinx

from tools.site import theme

_FILE = flags.DEFINE_multi_string("file", [], "A page or image: its path in the repository, `=`, its path here.")
_SECTION = flags.DEFINE_multi_string(
    "section",
    [],
    "A section of the contents: title, `=`, pages separated by commas. The last has pages that none names, too.",
)
_SOURCE = flags.DEFINE_multi_string(
    "source", [], "A file that pages link to: its path in the repository, `=`, its path here."
)
_VERSION = flags.DEFINE_string("version", "", "The version that the pages are of.")
_OUTPUT = flags.DEFINE_string("output", "site", "The folder to write.")

_START = "README.md"
_CONF = """
project = "rules_executorch"
extensions = ["myst_parser", "tools.site.theme"]
root_doc = "index"
source_suffix = {{".md": "markdown"}}
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "rules_executorch {version}"
html_static_path = [{static!r}]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
pygments_style = "friendly"
pygments_dark_style = "github-dark-colorblind"
"""
# The template of a page that is not in the contents, and that the search ignores.
_SOURCE_PAGE = """\
---
orphan: true
nosearch: true
---

# {title}

{content}
"""

_FENCE = re.compile(r"\s*(```|~~~)")
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)")


class SiteError(Exception):
    """A page has a mistake, such as a broken link."""


def for_site(page: str, text: str, pages: Mapping[str, str]) -> str:
    """Returns the text of a page with links for the site.

    Args:
        page: the path of the page in the repository.
        text: the text of the page.
        pages: the pages of the site, by their paths in the repository.

    Raises:
        SiteError: the target of a link is missing, or the page does not have exactly one title.
    """
    lines, in_fence, titles = [], False, 0
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_fence = not in_fence
        titles += not in_fence and line.startswith("# ")
        lines.append(line if in_fence else _LINK.sub(lambda match: _link(page, match, pages), line))
    if titles != 1:
        raise SiteError(f"{page} has {titles} headings of the first level: each would be an entry of the contents")
    return "\n".join(lines)


def _link(page: str, match: re.Match[str], pages: Mapping[str, str]) -> str:
    target, _, anchor = match["target"].partition("#")
    if "://" in target or not target:
        return match[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    found = pages.get(posixpath.join(path, _START)) or pages.get(path)
    if found is None:
        raise SiteError(f"{page} links to {path}, which is neither among srcs nor among sources of the site")
    way = posixpath.relpath(found, posixpath.dirname(pages[page]) or ".")
    return f"{match['image']}[{match['text']}]({way}{'#' + anchor if anchor else ''})"


def source_pages(sources: Mapping[str, str]) -> dict[str, str]:
    """Returns the text of a page for each file, and for each folder with files, by the path in the repository.

    Args:
        sources: the content of each file, by the path in the repository.
    """
    found: dict[str, str] = {}
    below: dict[str, list[str]] = {}
    for path, text in sorted(sources.items()):
        fence = "`" * max(len(ticks) + 1 for ticks in ["``", *re.findall("`+", text)])
        found[path] = _SOURCE_PAGE.format(
            title=f"`{path}`", content=f"{fence}{_language(path)}\n{text.rstrip()}\n{fence}"
        )
        folder = path
        while folder := posixpath.dirname(folder):
            below.setdefault(folder, []).append(path)
    for folder, files in below.items():
        at = posixpath.dirname(_staged_source(folder))
        links = [f"- [`{posixpath.relpath(f, folder)}`]({posixpath.relpath(_staged_source(f), at)})" for f in files]
        found[folder] = _SOURCE_PAGE.format(title=f"`{folder}`", content="\n".join(links))
    return found


def _language(path: str) -> str:
    try:
        aliases: Sequence[str] = get_lexer_for_filename(path.removesuffix(".in")).aliases
        return aliases[0]
    except ClassNotFound:
        return "text"


def contents(sections: Mapping[str, Sequence[str]], pages: Mapping[str, str]) -> str:
    """Returns the table of contents of the site, for the end of the first page."""
    # The first page also lists itself.
    parts = ["```{toctree}\n:hidden:\n\nself\n```\n"]
    for title, listed in sections.items():
        names = "\n".join(pages[page].removesuffix(".md") for page in listed)
        parts.append(f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n:caption: {title}\n\n{names}\n```\n")
    return "\n".join(parts)


def _staged(path: str) -> str:
    return "index.md" if path == _START else path


def _staged_source(path: str) -> str:
    return f"sources/{path}.md"


def build(
    files: Mapping[str, Path],
    sources: Mapping[str, Path],
    sections: Mapping[str, Sequence[str]],
    version: str,
    output: Path,
) -> int:
    """Writes the site. Returns Sphinx's exit code.

    Args:
        files: pages and images, by their paths in the repository.
        sources: other files that pages link to, by their paths in the repository.
        sections: the contents: the pages of each section, by title.
        version: the version of the documentation.
        output: the folder to write.

    Raises:
        SiteError: a page has a mistake.
    """
    shown = source_pages({path: file.read_text() for path, file in sources.items()})
    pages = {path: _staged_source(path) for path in shown} | {path: _staged(path) for path in files}
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "source"
        for path, staged in pages.items():
            (source / staged).parent.mkdir(parents=True, exist_ok=True)
            if path not in files:
                (source / staged).write_text(shown[path])
            elif path.endswith(".md"):
                text = for_site(path, files[path].read_text(), pages)
                (source / staged).write_text(f"{text}\n{contents(sections, pages)}" if path == _START else text)
            else:
                (source / staged).write_bytes(files[path].read_bytes())
        (source / "conf.py").write_text(_CONF.format(version=version, static=str(theme.STATIC)))
        # Sphinx writes the time of this variable into its output, instead of the present time.
        os.environ["SOURCE_DATE_EPOCH"] = "0"
        options = ["-q", "-W", "--keep-going", "-b", "html", "-d", f"{directory}/trees"]
        code: int = sphinx([*options, str(source), str(output)])
        (output / ".buildinfo").unlink(missing_ok=True)
        return code


def _by_path(values: Sequence[str]) -> dict[str, Path]:
    return {path: Path(file) for path, _, file in (value.partition("=") for value in values)}


def main(argv: Sequence[str]) -> None:
    del argv
    files = _by_path(_FILE.value)
    sections = {title: listed.split(",") for title, _, listed in (value.partition("=") for value in _SECTION.value)}
    listed_pages = {page for listed in sections.values() for page in listed}
    [*_, last] = sections.values()
    last += [path for path in files if path.endswith(".md") and path != _START and path not in listed_pages]
    try:
        sys.exit(build(files, _by_path(_SOURCE.value), sections, _VERSION.value, Path(_OUTPUT.value)))
    except SiteError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    app.run(main)
