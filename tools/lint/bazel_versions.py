"""Finds Starlark that Bazel 8, 9 or 10 refuses, and the lower bound 7.4, by the table bazel_versions.toml.

Only one Bazel can be run here. The table says, with sources, which builtin names, arguments and labels of @bazel_tools
and @platforms each release has. This lint reads the Starlark of the tree, that in strings of .bzl and Python files,
which become BUILD, MODULE.bazel and .bzl files, and that in fenced blocks of pages. A name without a row is an error.

The flags that the releases flip are in the same table. bazel_versions.bazelrc has those that builds here turn on, and
CONTRIBUTING.md has all.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import tomllib

_TABLE = "tools/lint/bazel_versions.toml"
_CONFIGS = "tools/lint/bazel_versions.bazelrc"
ENDINGS = (".bzl", ".bazel", ".bazel.in", "BUILD", "WORKSPACE", "WORKSPACE.in", ".py", ".md", ".bazelrc")
# The table and its tests name what no Bazel has any more. Buck's files have other builtin names, as have blocks that
# load from Buck's repository.
_LEFT_OUT = ("tools/lint/bazel_versions", "tools/from_buck/")

_LABEL = re.compile(r"@{1,2}(?:bazel_tools|platforms)//[\w./+-]*(?::[\w./+-]*)?")
_FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>```+)(?:starlark|python|bzl|bazel)\n(?P<text>.*?)^ *(?P=ticks)$", re.M | re.S
)
_CALL = re.compile(r"^(?:\{\w*\})?\w+\(", re.M)
# `{name}` and `%s` in strings from which files are made. Doubled braces are braces.
_PLACEHOLDER = re.compile(r"\{\w*(?:![rs])?\}|%s|%\(\w+\)s")
_HOLE = "PLACEHOLDER"
_ARGUMENTS = ("aspect", "bazel_dep", "exec_group", "module", "rule", "tag_class", "use_extension")
_CONTEXTS = {
    "rctx": "repository_ctx",
    "repository_ctx": "repository_ctx",
    "mctx": "module_ctx",
    "module_ctx": "module_ctx",
}
# A string is Starlark if one of its statements is a call of these, or a call of a rule with a name.
_OF_MODULES = {"bazel_dep", "module", "use_repo"}
_OF_WORKSPACES = {"http_archive", "local_repository", "new_local_repository", "workspace"}
_CALLED = {"exports_files", "load", "package", "register_toolchains", *_OF_MODULES, *_OF_WORKSPACES}
# A Python file without any of this has no Starlark in its strings.
_MAY_HAVE_STARLARK = re.compile(rf"@bazel_tools|@platforms|\bname ?= ?['\"{{]|\b(?:{'|'.join(sorted(_CALLED))})\(")
_CONFIG = re.compile(r"^(?:build|common|test):(?P<config>bazel\d+)\s+(?P<flags>.*)$", re.M)
_HERE = {
    "on": "on in `--config=bazel{release}`",
    "lint": "checked by the lint: {why}",
    "none": "no effect: {why}",
    "off": "off: {why}",
}


@dataclasses.dataclass(frozen=True)
class Row:
    """What the table has of a name.

    Attributes:
        source: The file of Bazel that tells.
        since: The first release that has the name, if 7.4 has not.
        gone: The first release that has the name no more.
        deprecated: The first release that has the name for old code only.
        instead: What to write.
    """

    source: str
    since: str = ""
    gone: str = ""
    deprecated: str = ""
    instead: str = ""

    def fault(self) -> str:
        """Returns why the name cannot be used, or nothing."""
        if self.since:
            return f"Bazel 7.4 has it not, {self.since} has"
        if self.gone:
            return f"Bazel {self.gone} has it no more"
        return f"deprecated since Bazel {self.deprecated}" if self.deprecated else ""


@dataclasses.dataclass(frozen=True)
class Flag:
    """A flag whose default a release flips.

    Attributes:
        name: The flag, with dashes and value.
        flipped: The release, or "announced".
        here: A key of _HERE.
        why: The reason for what is here, where no config has the flag.
    """

    name: str
    flipped: str
    here: str
    why: str = ""

    @property
    def release(self) -> str:
        """The release whose config has the flag."""
        return "10" if self.flipped == "announced" else self.flipped


@functools.cache
def _table() -> dict[str, Any]:
    return tomllib.loads(pathlib.Path(__file__).with_suffix(".toml").read_text())


@functools.cache
def rows() -> dict[tuple[str, str], Row]:
    """Returns the rows by what they are in and by name.

    Raises:
        ValueError: Two rows have the same name, or a row lacks what to write instead.
    """
    found: dict[tuple[str, str], Row] = {}
    for entry in _table()["row"]:
        fields = {key: value for key, value in entry.items() if key not in ("in", "names")}
        for where in entry["in"]:
            for name in entry["names"]:
                target = name.rpartition(":")[2]
                row = Row(**fields | {"instead": entry.get("instead", "").format(name=name, target=target)})
                key = where, _whole(name) if where == "label" else name
                if key in found or bool(row.fault()) != bool(row.instead):
                    raise ValueError(f"{_TABLE}: {where} {name}: two rows, or not both of a fault and `instead`")
                found[key] = row
    return found


@functools.cache
def flags() -> tuple[Flag, ...]:
    """Returns the flags of the table."""
    return tuple(Flag(**entry) for entry in _table()["flag"])


def _whole(label: str) -> str:
    """Returns a label with its target and one @."""
    label = "@" + label.lstrip("@")
    return label if ":" in label else f"{label}:{label.rpartition('/')[2]}"


@dataclasses.dataclass(frozen=True)
class _Use:
    """A use of a builtin name or label.

    Attributes:
        line: The line, from 1.
        column: The column, from 1.
        kinds: What the name may be in: one of these has to have it.
        name: The name.
        shown: The name as it is written.
    """

    line: int
    column: int
    kinds: tuple[str, ...]
    name: str
    shown: str


class _Names(ast.NodeVisitor):
    """Finds the uses of builtin names of a file of Starlark."""

    def __init__(self, module: ast.Module, kind: str) -> None:
        self.uses: list[_Use] = []
        self._kind = kind
        self._functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
        self._bound: list[set[str]] = [{_HOLE, *_loaded(module), *_assigned(module.body)}]
        self.visit(module)

    def _is_builtin(self, name: str) -> bool:
        return not any(name in scope for scope in self._bound)

    def _use(self, node: ast.expr | ast.keyword, kind: str, name: str, shown: str) -> None:
        self.uses.append(_Use(node.lineno, node.col_offset + 1, (kind,), name, shown))

    def _in_scope(self, names: set[str], nodes: Iterable[ast.AST]) -> None:
        self._bound.append(names)
        for node in nodes:
            self.visit(node)
        self._bound.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        self._in_scope(_parameters(node.args) | _assigned(node.body), node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._in_scope(_parameters(node.args), [*node.args.defaults, node.body])

    def _visit_comprehension(self, node: ast.ListComp | ast.DictComp) -> None:
        names = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        self._in_scope(names, ast.iter_child_nodes(node))

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._visit_comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._visit_comprehension(node)

    def visit_Name(self, node: ast.Name) -> None:
        if self._is_builtin(node.id):
            self._use(node, self._kind, node.id, node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name):
            name = node.value.id
            if name == "native" and self._is_builtin(name):
                self._use(node, "native", node.attr, f"native.{node.attr}")
            elif name in _CONTEXTS and not self._is_builtin(name):
                self._use(node, _CONTEXTS[name], node.attr, f"{name}.{node.attr}")
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in _ARGUMENTS and self._is_builtin(node.func.id):
            name = node.func.id
            for keyword in node.keywords:
                if keyword.arg is not None:
                    self._use(keyword, f"{name}()", keyword.arg, f"{keyword.arg} of {name}()")
                if keyword.arg == "implementation" and isinstance(keyword.value, ast.Name):
                    self._use_results(keyword.value.id)
        self.generic_visit(node)

    def _use_results(self, implementation: str) -> None:
        """Finds the structs that a rule or an aspect returns for a list of providers."""
        function = self._functions.get(implementation)
        for node in ast.walk(function) if function is not None else ():
            value = node.value if isinstance(node, ast.Return) else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "struct":
                self._use(value, "result", "struct", f"a struct as the result of {implementation}()")


def _parameters(arguments: ast.arguments) -> set[str]:
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return {argument.arg for argument in listed if argument is not None}


def _assigned(body: Iterable[ast.stmt]) -> set[str]:
    """Returns the names that statements bind, those of functions inside left out."""
    names: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            names.add(statement.name)
            continue
        for child in ast.walk(statement):
            if isinstance(child, ast.FunctionDef):
                names.add(child.name)
            elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                names.add(child.id)
    return names


def _loaded(module: ast.Module) -> Iterator[str]:
    for call in _calls(module):
        if isinstance(call.func, ast.Name) and call.func.id == "load":
            yield from (keyword.arg for keyword in call.keywords if keyword.arg is not None)
            yield from (argument.value for argument in call.args[1:] if _is_text(argument))  # type: ignore[attr-defined]


def _calls(module: ast.Module) -> Iterator[ast.Call]:
    """Yields the calls that are statements of a file."""
    for statement in module.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield statement.value


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _kind_of_text(module: ast.Module) -> str:
    """Returns what a string of Starlark is: "build", "bzl", "module" or "workspace"; empty if it is none of these."""
    called = {call.func.id: call for call in _calls(module) if isinstance(call.func, ast.Name)}
    if called.keys() & _OF_MODULES:
        return "module"
    if called.keys() & _OF_WORKSPACES:
        return "workspace"
    rules = {name for kind, name in rows() if kind == "build"} | set(_loaded(module))
    named = any(name in rules and any(k.arg == "name" for k in call.keywords) for name, call in called.items())
    if not named and not called.keys() & _CALLED:
        return ""
    return "bzl" if any(isinstance(statement, ast.FunctionDef) for statement in module.body) else "build"


def _kind_of_file(file: str) -> str:
    name = file.rpartition("/")[2].removesuffix(".in")
    if name == "MODULE.bazel":
        return "module"
    if name == "WORKSPACE":
        return "workspace"
    return "bzl" if name.endswith(".bzl") else "build"


def _parsed(text: str, is_template: bool = False) -> ast.Module | None:
    """Returns the parsed text, with holes for the placeholders of a template; None if the text is no Starlark."""
    if is_template:
        text = _PLACEHOLDER.sub(_HOLE, text).replace("{{", "{").replace("}}", "}")
        # What stands for lines is a statement of its own.
        text = re.sub(rf"^{_HOLE}(?=\w)", f"{_HOLE};", text, flags=re.M)
    # Pages leave out arguments and statements: `...` is an expression, but not after a keyword.
    for candidate in (text, re.sub(r"\.\.\.(?=,?\s*\))", f"**{_HOLE}", text)):
        try:
            return ast.parse(candidate)
        except (SyntaxError, ValueError):
            continue
    return None


def _texts(module: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """Yields the strings of a file, with holes for what is not known. A sum, a joined list and an f-string are one."""
    inner: set[ast.AST] = set()
    for node in ast.walk(module):
        if node in inner or not isinstance(node, ast.expr):
            continue
        text = _text(node)
        if text is not None:
            inner.update(ast.walk(node))
            yield node, text


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else _HOLE for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return None if left is None and right is None else f"{left or _HOLE}{right or _HOLE}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join":
        glue, items = _text(node.func.value), node.args[0] if node.args else None
        if glue is not None and isinstance(items, ast.List):
            return glue.join(_text(item) or _HOLE for item in items.elts)
    return None


def _place(source: str, node: ast.expr, text: str, line: int, column: int) -> tuple[int, int]:
    """Returns the place in a file of a place in one of its strings: the string's own if the text is not as written."""
    lines = source.split("\n")
    wanted = text.split("\n")[line - 1].partition(_HOLE)[0]
    # The text of a string may begin in the line after its quotes.
    for number in (node.lineno + line - 1, node.lineno + line):
        if wanted.strip() and number <= (node.end_lineno or 0) and (start := lines[number - 1].find(wanted)) >= 0:
            return number, start + column
    return node.lineno, node.col_offset + 1


def _labels(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _LABEL.finditer(text):
        before = text[: match.start()]
        yield before.count("\n") + 1, match.start() - before.rfind("\n"), match[0]


def _label_uses(text: str) -> Iterator[_Use]:
    for line, column, label in _labels(text):
        known = label.partition(_HOLE)[0]
        yield _Use(line, column, ("label",), known, known)


def _uses_of_file(source: str, kind: str, is_template: bool, is_test: bool) -> Iterator[_Use]:
    """Yields the uses of a file of Starlark or, without a kind, of Python, and those of the Starlark in its strings."""
    if not kind and not _MAY_HAVE_STARLARK.search(source):
        return
    module = _parsed(source, is_template)
    if module is None:
        yield _Use(1, 1, (), "", "the file, which cannot be parsed,")
        return
    if kind:
        yield from _known(_Names(module, kind).uses, module, is_file=True)
    strings = [(node, text, _parsed(text, True) if _CALL.search(text) else None) for node, text in _texts(module)]
    # Strings of one file become one file: what one of them loads, the others have. Tests have excerpts, too.
    loaded = {name for _, _, inner in strings if inner is not None for name in _loaded(inner)}
    for node, text, inner in strings:
        uses = list(_label_uses(text))
        if inner is not None and (kind_of_text := _kind_of_text(inner)):
            names = _known(_Names(inner, kind_of_text).uses, inner)
            uses += [
                use for use in names if use.name not in loaded and (loaded or not is_test or use.kinds != ("build",))
            ]
        for use in uses:
            line, column = _place(source, node, text, use.line, use.column)
            yield dataclasses.replace(use, line=line, column=column)


def _uses_of_page(source: str) -> Iterator[_Use]:
    """Yields the uses of the fenced blocks of a page."""
    # Blocks of a guide continue the files of earlier blocks.
    loaded: set[str] = set()
    for fence in _FENCE.finditer(source):
        indent, first = len(fence["indent"]), source[: fence.start("text")].count("\n")
        text = re.sub(rf"^ {{0,{indent}}}", "", fence["text"], flags=re.M)
        module = _parsed(text)
        uses = list(_label_uses(text))
        if module is not None and "@fbsource//" not in text and (kind := _kind_of_text(module)):
            names = _Names(module, kind).uses
            # A block without a load is an excerpt, in which the project's own rules are not loaded either.
            loads = set(_loaded(module))
            loaded |= loads
            names = [use for use in names if use.name not in loaded and (loads or use.kinds != ("build",))]
            uses += _known(names, module)
        for use in uses:
            yield dataclasses.replace(use, line=use.line + first, column=use.column + indent)


def _known(uses: list[_Use], module: ast.Module, is_file: bool = False) -> list[_Use]:
    """Returns the uses whose names another part of a file cannot bind.

    That is all of them in a file, and in a text that loads what it needs, unless a hole stands for statements.
    """
    holes = any(
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name) and statement.value.id == _HOLE
        for statement in module.body
    )
    if not holes and (is_file or list(_loaded(module))):
        return uses
    table = rows()
    return [use for use in uses if any((kind, use.name) in table for kind in use.kinds)]


def _finding(file: str, use: _Use) -> str | None:
    where = f"{file}:{use.line}:{use.column}: {use.shown}"
    if not use.kinds:
        return f"{where} is not checked; write it so that it can be parsed"
    table = rows()
    if use.kinds == ("label",) and use.name.endswith((":", "/")):
        # The label is put together: its package has to be known.
        known = any(kind == "label" and name.startswith(_whole(use.name).rstrip(":")) for kind, name in table)
        return None if known else f"{where} is a package of which {_TABLE} has no label; add a row with a source"
    name = _whole(use.name) if use.kinds == ("label",) else use.name
    row = next((table[kind, name] for kind in use.kinds if (kind, name) in table), None)
    if row is None:
        return (
            f"{where} is not in {_TABLE}; correct the name, or add a row with the source of what Bazel 7.4 to 10 have"
        )
    if use.kinds == ("workspace",) and row.gone in ("9", "10"):
        return None  # Bazel 9 reads no WORKSPACE file.
    return f"{where}: {row.fault()}; write: {row.instead} ({row.source})" if row.fault() else None


def findings(file: str, text: str) -> Iterator[str]:
    """Yields a line for each name and label of a file that one of Bazel 7.4 to 10 has not.

    Args:
        file: The path of the file in the tree, whose ending says what the file is.
        text: What the file has.
    """
    if file.endswith(".md"):
        uses = _uses_of_page(text)
    elif file.endswith(".bazelrc"):
        uses = _label_uses(text)
    else:
        kind = "" if file.endswith(".py") else _kind_of_file(file)
        uses = _uses_of_file(text, kind, is_template=file.endswith(".in"), is_test=file.endswith("_test.py"))
    for use in sorted(set(uses), key=lambda use: (use.line, use.column, use.shown)):
        if (finding := _finding(file, use)) is not None:
            yield finding


def page_table() -> str:
    """Returns the table of flags for CONTRIBUTING.md."""
    lines = ["| flag | flipped in | here |", "|---|---|---|"]
    for flag in flags():
        lines.append(
            f"| `{flag.name}` | {flag.flipped} | {_HERE[flag.here].format(release=flag.release, why=flag.why)} |"
        )
    return "\n".join(lines) + "\n"


def flag_findings(bazelrc: str, page: str) -> Iterator[str]:
    """Yields a line for each flag of which the configs of builds, CONTRIBUTING.md and the table tell different things.

    Args:
        bazelrc: The text of bazel_versions.bazelrc.
        page: The text of CONTRIBUTING.md.
    """
    expected = {(f"bazel{flag.release}", flag.name) for flag in flags() if flag.here == "on"}
    expected |= {("bazel9", "--config=bazel8"), ("bazel10", "--config=bazel9")}
    found = {(match["config"], flag) for match in _CONFIG.finditer(bazelrc) for flag in match["flags"].split()}
    for config, flag in sorted(expected - found):
        yield f"{_CONFIGS}: --config={config} lacks {flag}, `on` in {_TABLE}; add a line `common:{config} {flag}`"
    for config, flag in sorted(found - expected):
        yield f"{_CONFIGS}: --config={config} has {flag}, not `on` there in {_TABLE}; change the table or drop the line"
    rows_of_page = set(page.split("\n"))
    for line in page_table().splitlines():
        if line not in rows_of_page:
            yield f"CONTRIBUTING.md: the table of Bazel's flags lacks this row of {_TABLE}; add it: {line}"
    known = {flag.name for flag in flags()}
    for name in re.findall(r"^\| `(--[^`]*)` \|", page, re.M):
        if name not in known:
            yield f"CONTRIBUTING.md: the table of Bazel's flags has {name}, which {_TABLE} has not; drop the row"


def check(tree: pathlib.Path, files: Iterable[str]) -> Iterator[str]:
    """Yields the findings of the files of a tree, and those of the flags."""
    for file in files:
        if not file.startswith(_LEFT_OUT):
            yield from findings(file, (tree / file).read_text())
    yield from flag_findings((tree / _CONFIGS).read_text(), (tree / "CONTRIBUTING.md").read_text())
