"""Evaluates the Starlark of a BUCK file as far as the values are known, with the place of each call.

Starlark's syntax is a subset of Python's, so Python's parser reads the file and gives the place of each node. A
Starlark interpreter would stop at the first function that is defined elsewhere, and would not give places.
"""

from __future__ import annotations

import ast
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnostics.errors import Location
from tools.from_buck.values import Call, Code, Glob, Known, Namespace, Select, Sum, Unknown, total

# The limit of evaluation steps, for files with endless loops.
_MAX_STEPS = 1_000_000

_OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Eq: operator.eq,
    ast.FloorDiv: operator.floordiv,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Mod: operator.mod,
    ast.Mult: operator.mul,
    ast.NotEq: operator.ne,
    ast.NotIn: lambda left, right: left not in right,
    ast.Sub: operator.sub,
}
_UNARY: Mapping[type[ast.AST], Callable[[Any], Any]] = {ast.Not: operator.not_, ast.USub: operator.neg}

_METHODS: Mapping[type, frozenset[str]] = {
    dict: frozenset(("get", "items", "keys", "pop", "setdefault", "update", "values")),
    list: frozenset(("append", "extend", "index", "insert", "pop", "remove")),
    str: frozenset(
        (
            *("capitalize", "count", "endswith", "find", "format", "index", "isalnum", "isalpha", "isdigit", "islower"),
            *("isupper", "join", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind"),
            *("rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper"),
        )
    ),
}

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "all": all,
    "any": any,
    "bool": bool,
    "dict": dict,
    "enumerate": lambda items, start=0: list(enumerate(items, start)),
    "hasattr": lambda holder, name: isinstance(holder, Namespace) and name in holder.members,
    "int": int,
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "print": lambda *_: None,
    "range": range,
    "repr": repr,
    "reversed": lambda items: list(reversed(items)),
    "sorted": sorted,
    "str": str,
    "struct": lambda **members: Namespace("struct", members),
    "tuple": tuple,
    "zip": lambda *items: list(zip(*items, strict=False)),
}

_FOR_THE_BUILD = (Code, Glob, Select, Sum, Unknown)


class StarlarkError(Exception):
    """A file that is not Starlark, or whose evaluation does not end."""

    def __init__(self, where: Location, message: str) -> None:
        super().__init__(f"{where}: error: {message}")


@dataclass(frozen=True, slots=True)
class Function:
    """A function that a file defines."""

    name: str
    arguments: ast.arguments
    body: Sequence[ast.stmt] | ast.expr
    defaults: Sequence[Any]
    scope: _Scope


@dataclass(frozen=True, slots=True)
class _Scope:
    file: _File
    names: dict[str, Any]
    outer: _Scope | None = None

    def find(self, name: str) -> Any:
        if name in self.names:
            return self.names[name]
        if self.outer is None:
            raise KeyError(name)
        return self.outer.find(name)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    shown: str
    text: str

    def place(self, node: ast.AST) -> Location:
        column = len(self.text.split("\n")[node.lineno - 1].encode()[: node.col_offset].decode())  # type: ignore[attr-defined]
        return Location(self.shown, node.lineno, column + 1)  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        return " ".join((ast.get_source_segment(self.text, node) or "").split())


class _Signal(BaseException):
    """Ends an iteration, a loop or a function."""


class _Break(_Signal):
    pass


class _Continue(_Signal):
    pass


class _Return(_Signal):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Evaluator:
    """Evaluates files.

    Attributes:
        known: the functions and namespaces that are known by name, for any loaded file.
        note: records a note about a lost part.
    """

    def __init__(self, known: Mapping[str, Any], note: Callable[[Location, str], None]) -> None:
        self._known = known
        self._note = note
        self._loaded: dict[Path, Mapping[str, Any]] = {}
        self._steps = 0

    def file(self, path: Path, shown: str) -> Mapping[str, Any]:
        """Evaluates a file once. Returns the defined names."""
        if path not in self._loaded:
            text = path.read_text()
            try:
                tree = ast.parse(text)
            except SyntaxError as error:
                raise StarlarkError(Location(shown, error.lineno or 0, error.offset or 0), error.msg) from None
            scope = _Scope(_File(path, shown, text), {})
            self._loaded[path] = scope.names
            self._statements(tree.body, scope)
        return self._loaded[path]

    def call(self, function: Any, call: Call) -> Any:
        """Calls a value."""
        if isinstance(function, Known):
            return function.call(Call(call.name or function.name, call.where, call.positional, call.named, call.places))
        if isinstance(function, Function):
            return self._call_function(function, call)
        values = (function, *call.positional, *call.named.values())
        if any(isinstance(value, _FOR_THE_BUILD) for value in values):
            return Unknown(f"{call.name}()", call.where)
        return function(*call.positional, **call.named)

    # Statements

    def _statements(self, body: Iterable[ast.stmt], scope: _Scope) -> None:
        for statement in body:
            self._steps += 1
            if self._steps > _MAX_STEPS:
                raise StarlarkError(scope.file.place(statement), f"the file takes more than {_MAX_STEPS:,} steps")
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: _Scope) -> None:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="load")) as call):
                self._load(call, scope)
            case ast.Expr():
                value = self._value(node.value, scope)
                if isinstance(value, Unknown):
                    self._note(value.where, f"{value.what} is not known here; what it defines is left out")
            case ast.FunctionDef():
                defaults = [self._value(default, scope) for default in node.args.defaults]
                scope.names[node.name] = Function(node.name, node.args, node.body, defaults, scope)
            case ast.Assign():
                value = self._value(node.value, scope)
                for target in node.targets:
                    self._assign(target, value, scope)
            case ast.AnnAssign() if node.value is not None:
                self._assign(node.target, self._value(node.value, scope), scope)
            case ast.AugAssign():
                old, added = self._value(node.target, scope), self._value(node.value, scope)
                self._assign(node.target, self._binary(node.target, node.op, old, added, scope), scope)
            case ast.If():
                self._statements(node.body if self._condition(node.test, scope) else node.orelse, scope)
            case ast.For():
                self._for(node, scope)
            case ast.Return():
                raise _Return(None if node.value is None else self._value(node.value, scope))
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case ast.Pass():
                pass
            case _:
                raise StarlarkError(scope.file.place(node), f"{scope.file.source(node)[:60]}: this is no Starlark")

    def _load(self, node: ast.Call, scope: _Scope) -> None:
        label, *symbols = (str(self._value(argument, scope)) for argument in node.args)
        names = {symbol: symbol for symbol in symbols}
        names |= {k.arg: str(self._value(k.value, scope)) for k in node.keywords if k.arg is not None}
        found: Mapping[str, Any] | None = None
        for name, symbol in names.items():
            if symbol in self._known:
                scope.names[name] = self._known[symbol]
                continue
            if found is None:
                found = self._load_file(label, scope.file)
            what = f"{symbol} of {label}"
            scope.names[name] = found.get(symbol, Unknown(what, scope.file.place(node)))

    def _load_file(self, label: str, loading: _File) -> Mapping[str, Any]:
        path = _loaded_file(label, loading.path)
        if path is None:
            return {}
        way = os.path.relpath(path, loading.path.parent)
        return self.file(path, os.path.normpath(os.path.join(os.path.dirname(loading.shown), way)))

    def _for(self, node: ast.For, scope: _Scope) -> None:
        for item in self._items(node.iter, scope):
            self._assign(node.target, item, scope)
            try:
                self._statements(node.body, scope)
            except _Continue:
                continue
            except _Break:
                break

    def _assign(self, target: ast.expr, value: Any, scope: _Scope) -> None:
        match target:
            case ast.Name():
                scope.names[target.id] = value
            case ast.Tuple() | ast.List():
                values = [value] * len(target.elts) if isinstance(value, Unknown) else list(value)
                for inner, item in zip(target.elts, values, strict=True):
                    self._assign(inner, item, scope)
            case ast.Subscript():
                holder = self._value(target.value, scope)
                if not isinstance(holder, Unknown):
                    holder[self._value(target.slice, scope)] = value
            case _:
                raise StarlarkError(scope.file.place(target), "this cannot be assigned to")

    def _condition(self, node: ast.expr, scope: _Scope) -> bool:
        value = self._value(node, scope)
        if isinstance(value, Unknown):
            self._note(value.where, f"{value.what} is not known here; taken to be false")
            return False
        return bool(value)

    def _items(self, node: ast.expr, scope: _Scope) -> Iterator[Any]:
        value = self._value(node, scope)
        for part in value.parts if isinstance(value, Sum) else (value,):
            if isinstance(part, _FOR_THE_BUILD):
                self._note(
                    scope.file.place(node),
                    f"{scope.file.source(node)} is known to the build only; not repeated for its items",
                )
            else:
                yield from part

    # Expressions

    def _value(self, node: ast.expr, scope: _Scope) -> Any:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise StarlarkError(scope.file.place(node), f"the file takes more than {_MAX_STEPS:,} steps")
        try:
            return self._expression(node, scope)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            return Unknown(f"{scope.file.source(node)} ({error})", scope.file.place(node))

    def _expression(self, node: ast.expr, scope: _Scope) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._name(node, scope)
            case ast.List():
                return [self._value(item, scope) for item in node.elts]
            case ast.Tuple():
                return tuple(self._value(item, scope) for item in node.elts)
            case ast.Dict():
                return self._dict(node, scope)
            case ast.BinOp():
                return self._binary(node, node.op, self._value(node.left, scope), self._value(node.right, scope), scope)
            case ast.BoolOp():
                return self._bool(node, scope)
            case ast.UnaryOp():
                operand = self._value(node.operand, scope)
                return operand if isinstance(operand, Unknown) else _UNARY[type(node.op)](operand)
            case ast.Compare():
                left, right = self._value(node.left, scope), self._value(node.comparators[0], scope)
                return self._binary(node, node.ops[0], left, right, scope)
            case ast.IfExp():
                return self._value(node.body if self._condition(node.test, scope) else node.orelse, scope)
            case ast.Call():
                return self._call(node, scope)
            case ast.Attribute():
                return self._attribute(node, scope)
            case ast.Subscript():
                holder = self._value(node.value, scope)
                return holder if isinstance(holder, Unknown) else holder[self._value(node.slice, scope)]
            case ast.Slice():
                ends = (node.lower, node.upper, node.step)
                return slice(*(None if end is None else self._value(end, scope) for end in ends))
            case ast.ListComp():
                return [self._value(node.elt, inner) for inner in self._rounds(node.generators, scope)]
            case ast.DictComp():
                rounds = self._rounds(node.generators, scope)
                return {self._value(node.key, inner): self._value(node.value, inner) for inner in rounds}
            case ast.JoinedStr():
                return self._joined(node, scope)
            case ast.Lambda():
                defaults = [self._value(default, scope) for default in node.args.defaults]
                return Function("lambda", node.args, node.body, defaults, scope)
            case _:
                raise StarlarkError(scope.file.place(node), f"{scope.file.source(node)[:60]}: this is no Starlark")

    def _name(self, node: ast.Name, scope: _Scope) -> Any:
        try:
            return scope.find(node.id)
        except KeyError:
            found = self._known.get(node.id, _FUNCTIONS.get(node.id))
            return Unknown(node.id, scope.file.place(node)) if found is None else found

    def _dict(self, node: ast.Dict, scope: _Scope) -> Any:
        # The dict has the places of the conditions of a select().
        made = _PlacedDict()
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise TypeError("`**` in a dictionary")
            name = self._value(key, scope)
            made[name] = self._value(value, scope)
            made.places[name] = scope.file.place(key)
        return made

    def _binary(self, node: ast.expr, kind: ast.AST, left: Any, right: Any, scope: _Scope) -> Any:
        if isinstance(kind, ast.Add) and isinstance(left, _FOR_THE_BUILD) | isinstance(right, _FOR_THE_BUILD):
            return total(left, right)
        for side in (left, right):
            if isinstance(side, _FOR_THE_BUILD):
                return Unknown(scope.file.source(node), scope.file.place(node))
        return _OPERATORS[type(kind)](left, right)

    def _bool(self, node: ast.BoolOp, scope: _Scope) -> Any:
        value: Any = None
        for operand in node.values:
            value = self._value(operand, scope)
            if isinstance(value, Unknown) or bool(value) == isinstance(node.op, ast.Or):
                return value
        return value

    def _attribute(self, node: ast.Attribute, scope: _Scope) -> Any:
        holder = self._value(node.value, scope)
        if isinstance(holder, Unknown):
            return Unknown(scope.file.source(node), scope.file.place(node))
        if isinstance(holder, Namespace):
            return holder.members.get(node.attr, Unknown(scope.file.source(node), scope.file.place(node)))
        if any(isinstance(holder, kind) and node.attr in methods for kind, methods in _METHODS.items()):
            return getattr(holder, node.attr)
        raise AttributeError(f"no {node.attr}")

    def _joined(self, node: ast.JoinedStr, scope: _Scope) -> Any:
        parts = [self._value(v.value if isinstance(v, ast.FormattedValue) else v, scope) for v in node.values]
        unknown = next((part for part in parts if isinstance(part, Unknown)), None)
        return "".join(str(part) for part in parts) if unknown is None else unknown

    def _rounds(self, generators: Sequence[ast.comprehension], scope: _Scope) -> Iterator[_Scope]:
        first, *rest = generators
        for item in self._items(first.iter, scope):
            inner = _Scope(scope.file, {}, scope)
            self._assign(first.target, item, inner)
            if all(self._condition(test, inner) for test in first.ifs):
                if rest:
                    yield from self._rounds(rest, inner)
                else:
                    yield inner

    def _call(self, node: ast.Call, scope: _Scope) -> Any:
        function = self._value(node.func, scope)
        positional: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                positional += self._items(argument.value, scope)
            else:
                positional.append(self._value(argument, scope))
        named: dict[str, Any] = {}
        places: dict[str, Location] = {}
        for keyword in node.keywords:
            value = self._value(keyword.value, scope)
            where = scope.file.place(keyword)
            if keyword.arg is not None:
                named[keyword.arg], places[keyword.arg] = value, where
            elif isinstance(value, Unknown):
                self._note(where, f"{scope.file.source(keyword.value)} is not known here; its parameters are left out")
            else:
                named |= value
                places |= dict.fromkeys(value, where)
        call = Call(scope.file.source(node.func), scope.file.place(node), positional, named, places)
        return self.call(function, call)

    def _call_function(self, function: Function, call: Call) -> Any:
        arguments = function.arguments
        positional = [argument.arg for argument in arguments.args]
        without_default = len(positional) - len(function.defaults)
        defaults = dict(zip(positional[without_default:], function.defaults, strict=True))
        scope = _Scope(function.scope.file, defaults, function.scope)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is not None:
                scope.names[argument.arg] = self._value(default, function.scope)
        scope.names.update(zip(positional, call.positional, strict=False))
        if arguments.vararg is not None:
            scope.names[arguments.vararg.arg] = tuple(call.positional[len(positional) :])
        names = {*positional, *(argument.arg for argument in arguments.kwonlyargs)}
        scope.names.update((name, value) for name, value in call.named.items() if name in names)
        if arguments.kwarg is not None:
            scope.names[arguments.kwarg.arg] = {name: v for name, v in call.named.items() if name not in names}
        if isinstance(function.body, ast.expr):
            return self._value(function.body, scope)
        try:
            self._statements(function.body, scope)
        except _Return as result:
            return result.value
        return None


class _PlacedDict(dict[Any, Any]):
    """A dict with the places of its keys."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[Any, Location] = {}


def select(call: Call) -> Any:
    """Starlark's `select()`."""
    values = call.argument("conditions", 0)
    if not isinstance(values, dict):
        return Unknown("select()", call.where)
    places = getattr(values, "places", {})
    return Select(values, {condition: places.get(condition, call.where) for condition in values})


def _loaded_file(label: str, beside: Path) -> Path | None:
    """Returns the file of a label in `load()`, in the package or below a parent folder of the package."""
    package, _, name = label.rpartition(":")
    if not package:
        path = beside.parent / name
        return path if path.is_file() else None
    folder = package.rpartition("//")[2]
    for root in beside.absolute().parents:
        for inner in (folder, folder.removeprefix("xplat/"), folder.removeprefix("xplat/").removeprefix("executorch/")):
            path = root / inner / name
            if inner and path.is_file():
                return path
    return None
