"""Plain attributes of modules: attributes that are no parameters, buffers or submodules. A program does not keep them.

export/README.md says what a program keeps.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import copy
import copyreg
import enum
import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from export.user.frames import path_shown

# The attributes of PyTorch's base class.
_OF_BASE_CLASS = frozenset(vars(torch.nn.Module()))
# Compared by value.
_SCALARS = (bool, int, float, complex, str, bytes, type(None))
# Compared by identity, although they have attributes. The nodes of a graph have fake tensors, which nothing can copy.
_OPAQUE = (type, FunctionType, MethodType, ModuleType, enum.Enum, torch.fx.Graph)
_SEQUENCES = (list, tuple, set, frozenset, collections.deque)
# Shared by copies, since they have no state of a model. Python itself refuses to copy them.
_SHARED = (ModuleType, staticmethod, torch.jit.ScriptFunction, type(threading.Lock()), type(threading.RLock()))
# The largest number of objects to read behind an attribute, such as a vocabulary.
_MOST_OBJECTS = 20_000

# Methods of containers that change the container. Those of tensors end with an underscore.
_CHANGING = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop", "popitem", "popleft"),
    *("remove", "reverse", "rotate", "setdefault", "sort", "update"),
}

for _kind in _SHARED:
    # A name in place of instructions: the copy is the object itself.
    copyreg.pickle(_kind, lambda one: type(one).__name__)


@dataclass(frozen=True, order=True)
class Attribute:
    """A plain attribute of a module or submodule.

    Attributes:
        module: the name of the submodule; empty for the module itself.
        name: the name of the attribute.
    """

    module: str
    name: str

    def __str__(self) -> str:
        return ".".join(filter(None, ("self", self.module, self.name)))


class Snapshot:
    """The values of a module's plain attributes.

    Tensors are compared by identity and version, numbers and strings by value, containers and plain objects by what
    they contain. A buffer without a value is a plain attribute, since a program has no such buffer.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self._modules = dict(module.named_modules())
        self._buffers = dict(module.named_buffers(remove_duplicate=False))
        # A submodule has attributes of its own, and the state of parameters and buffers is no state of attributes.
        self._elsewhere = {id(one) for one in (*self._modules.values(), *self._buffers.values(), *module.parameters())}
        self._before = self._read()

    def changed(self) -> list[Attribute]:
        """Returns the attributes with other values than at the time of the snapshot."""
        now = self._read()
        return [one for one in {**self._before, **now} if not _are_same(self._before.get(one), now.get(one))]

    def _read(self) -> dict[Attribute, list[Any]]:
        seen: set[int] = set()
        return {
            Attribute(path, name): self._values(value, seen)
            for path, module in self._modules.items()
            for name, value in self._attributes(path, module)
        }

    def _attributes(self, path: str, module: torch.nn.Module) -> Iterator[tuple[str, Any]]:
        yield from ((name, value) for name, value in vars(module).items() if name not in _OF_BASE_CLASS)
        prefix = path and f"{path}."
        yield from ((name, value) for name, value in module._buffers.items() if prefix + name not in self._buffers)

    def _values(self, value: Any, seen: set[int]) -> list[Any]:
        """Returns what `_are_same` compares: the parts of a value in order, and the versions of tensors."""
        values: list[Any] = []
        pending = [value]
        while pending and len(values) < _MOST_OBJECTS:
            one = pending.pop()
            if issubclass(type(one), torch.Tensor) and id(one) not in self._elsewhere:
                values += [one, version(one)]
            elif id(one) in self._elsewhere or id(one) in seen or (parts := _parts(one)) is None:
                values.append(one)
            else:
                seen.add(id(one))
                values += [type(one), len(parts)]
                pending += reversed(parts)
        return values


class Buffers:
    """The buffers of a module, with their versions before all runs."""

    def __init__(self, module: torch.nn.Module) -> None:
        self._module = module
        self._before = {name: (tensor, version(tensor)) for name, tensor in self._all()}

    def _all(self) -> Iterator[tuple[str, torch.Tensor]]:
        return self._module.named_buffers(remove_duplicate=False)

    def changed(self) -> dict[str, torch.Tensor]:
        """Returns the buffers that runs have assigned or written to."""
        changed = {}
        for name, tensor in self._all():
            before, number = self._before.get(name, (None, 0))
            if tensor is not before or version(tensor) != number:
                changed[name] = tensor
        return changed


def version(tensor: torch.Tensor) -> int:
    """Returns a number that each write to a tensor changes."""
    return 0 if tensor.is_inference() else tensor._version


def _parts(value: Any) -> list[Any] | None:
    """Returns the parts of a container or a plain object; None for any other value."""
    kind: Any = type(value)
    if issubclass(kind, (*_SCALARS, *_OPAQUE)):
        return None
    parts: list[Any] = []
    # The methods of the base classes, since subclasses may have methods that raise.
    if issubclass(kind, dict):
        parts += [part for item in dict.items(value) for part in item]
    elif issubclass(kind, _SEQUENCES):
        base = next(base for base in _SEQUENCES if issubclass(kind, base))
        parts += base.__iter__(value)
    attributes = _dict_of(value)
    if isinstance(attributes, dict):
        parts += [part for item in attributes.items() for part in item]
    slots = _slots(kind)
    for slot in slots:
        with contextlib.suppress(AttributeError):  # A slot without a value.
            parts.append(slot.__get__(value))
    is_known = issubclass(kind, (dict, *_SEQUENCES)) or isinstance(attributes, dict) or bool(slots)
    return parts if is_known else None


def _dict_of(value: Any) -> Any:
    """Returns the dict of an object's attributes; None for an object without such a dict."""
    with contextlib.suppress(AttributeError):
        return object.__getattribute__(value, "__dict__")
    return None


@functools.cache
def _slots(kind: type) -> tuple[Any, ...]:
    return tuple(one for base in kind.__mro__ for one in vars(base).values() if inspect.ismemberdescriptor(one))


def _are_same(before: Sequence[Any] | None, now: Sequence[Any] | None) -> bool:
    if before is None or now is None or len(before) != len(now):
        return False
    return all(
        one is other or (type(one) is type(other) and isinstance(one, _SCALARS) and one == other)
        for one, other in zip(before, now, strict=True)
    )


def are_equal(one: Any, other: Any) -> bool:
    """Returns whether two tensors, numbers or strings are equal; for others, whether they are the same object."""
    if isinstance(one, (bool, int, float, str)) and type(one) is type(other):
        return one == other or repr(one) == repr(other)  # NaN is not equal to itself.
    if one is other or not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        return one is other
    if (one.dtype, one.shape, one.layout) != (other.dtype, other.shape, other.layout):
        return False
    if one.layout != torch.strided:
        return repr(one) == repr(other)
    if one.is_floating_point():
        return torch.allclose(one.double(), other.double(), rtol=0, atol=0, equal_nan=True)
    return torch.equal(one, other)


def differences(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Yields the pairs of tensors, numbers and parts that differ in the values of an attribute in two modules."""
    pending, seen = [(one, other)], set[int]()
    while pending and len(seen) < _MOST_OBJECTS:
        one, other = pending.pop()
        if type(one) is not type(other):
            yield one, other
        elif isinstance(one, (torch.Tensor, *_SCALARS)):
            if not are_equal(one, other):
                yield one, other
        elif id(one) not in seen and (parts := _parts(one)) is not None:
            seen.add(id(one))
            of_other = _parts(other) or []
            if len(parts) == len(of_other):
                pending += zip(parts, of_other, strict=True)
            else:
                yield one, other


class _DetachedCopies(TorchFunctionMode):
    """Copies of tensors that autograd computed, as in `self.scale = torch.exp(self.parameter)`, are constants.

    PyTorch itself refuses to copy such tensors.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is torch.Tensor.__deepcopy__ and not args[0].is_leaf:
            tensor, memo = args
            memo[id(tensor)] = copy.deepcopy(tensor.detach(), memo)
            return memo[id(tensor)]
        return func(*args, **(kwargs or {}))


def copied(module: torch.nn.Module) -> torch.nn.Module:
    """Returns a copy of a module. The copy shares the memory of parameters that nothing writes to."""
    memo = _with_copied_parameters(module)
    with _DetachedCopies():
        copy_ = copy.deepcopy(module, memo)
    _close_over_copies(memo)
    return copy_


def _close_over_copies(memo: dict[int, Any]) -> None:
    """Makes the functions in copied modules, dicts and lists see the copies of what they close over.

    Python copies no functions. A hook that a method of the module has registered would write to the original module.

    Args:
        memo: the copies of `copy.deepcopy`, by the identity of the original.
    """
    done: dict[int, Any] = {}
    kept_alive = memo.get(id(memo))
    for one in list(memo.values()):
        if one is kept_alive or memo.get(id(one)) is one:
            continue
        if type(one) is list:
            one[:] = [_closing_over(part, memo, done) for part in one]
        for values in (one, _dict_of(one)):
            for key, part in dict.items(values) if isinstance(values, dict) else ():
                if isinstance(part, FunctionType):
                    dict.__setitem__(values, key, _closing_over(part, memo, done))


def _closing_over(value: Any, memo: dict[int, Any], done: dict[int, Any]) -> Any:
    """Returns a function that sees the copies of what `value` closes over; other values as they are.

    Args:
        value: the value.
        memo: the copies, by the identity of the original.
        done: the functions and their cells, by the identity of the original.
    """
    if not isinstance(value, FunctionType) or not _holds_original(value, memo, set()):
        return value
    if id(value) not in done:
        cells = tuple(_cell(cell, memo, done) for cell in value.__closure__ or ())
        function = FunctionType(value.__code__, value.__globals__, value.__name__, value.__defaults__, cells)
        done[id(value)] = function
        function.__kwdefaults__, function.__qualname__ = value.__kwdefaults__, value.__qualname__
        vars(function).update(vars(value))
        for cell, new in zip(value.__closure__ or (), cells, strict=True):
            if new is not cell:
                held = cell.cell_contents
                new.cell_contents = _closing_over(_copy_of(held, memo), memo, done)
    return done[id(value)]


def _cell(cell: CellType, memo: dict[int, Any], done: dict[int, Any]) -> CellType:
    """Returns an empty cell for one whose value has a copy; the cell itself for others, which functions may share."""
    return done.setdefault(id(cell), CellType()) if _holds_original(cell, memo, set()) else cell


def _copy_of(held: Any, memo: dict[int, Any]) -> Any:
    if isinstance(held, MethodType) and id(held.__self__) in memo:
        return MethodType(held.__func__, memo[id(held.__self__)])
    return memo.get(id(held), held)


def _holds_original(value: Any, memo: dict[int, Any], seen: set[int]) -> bool:
    """Returns whether a cell, or a function with its cells, sees something that has a copy."""
    if isinstance(value, CellType):
        try:
            held = value.cell_contents
        except ValueError:  # A variable without a value yet.
            return False
        return _copy_of(held, memo) is not held or _holds_original(held, memo, seen)
    if not isinstance(value, FunctionType) or id(value) in seen:
        return False
    seen.add(id(value))
    return any(_holds_original(cell, memo, seen) for cell in value.__closure__ or ())


def uncopied(module: torch.nn.Module) -> Attribute | None:
    """Returns the plain attribute because of which a module cannot be copied; None if this is no single attribute."""
    memo = _with_copied_parameters(module) | {id(one): one for one in module.modules()}
    with _DetachedCopies():
        for path, submodule in module.named_modules():
            for name, value in vars(submodule).items():
                if name not in _OF_BASE_CLASS:
                    try:
                        copy.deepcopy(value, memo)
                    except BaseException:
                        return Attribute(path, name)
    return None


def _with_copied_parameters(module: torch.nn.Module) -> dict[int, Any]:
    """Returns a memo for `copy.deepcopy` with the copies of the parameters."""
    memo: dict[int, Any] = {id(parameter): _copied_on_write(parameter) for parameter in module.parameters()}
    with _DetachedCopies():
        for parameter in module.parameters():
            if vars(parameter) and memo[id(parameter)] is not parameter:
                vars(memo[id(parameter)]).update(copy.deepcopy(vars(parameter), memo))
    return memo


def _copied_on_write(parameter: torch.nn.Parameter) -> torch.nn.Parameter:
    """Returns a parameter whose memory PyTorch copies before the first write to one of the two."""
    try:
        return torch.nn.Parameter(torch._lazy_clone(parameter.detach()), parameter.requires_grad)
    except (NotImplementedError, RuntimeError, TypeError):  # A subclass of tensors, or memory that is not PyTorch's.
        return parameter


def share_parameters(module: torch.nn.Module, original: torch.nn.Module) -> None:
    """Gives the parameters of a copy that nothing has written to the memory of the original ones.

    Otherwise, PyTorch copies the memory when something asks for the address of either, as ExecuTorch's emitter does.
    """
    for copy_, parameter in zip(module.parameters(), original.parameters(), strict=False):
        if type(copy_) is torch.nn.Parameter and torch._C._is_cow_tensor(copy_):  # type: ignore[attr-defined]
            copy_.data = parameter.data


def value(module: torch.nn.Module, attribute: Attribute) -> Any:
    """Returns the value of an attribute; None if the module has no such attribute."""
    return getattr(module.get_submodule(attribute.module), attribute.name, None)


def reset(module: torch.nn.Module, attribute: Attribute, fresh: torch.nn.Module) -> None:
    """Gives an attribute of a module the value that the attribute has in `fresh`, another copy of the module."""
    memo: dict[int, Any] = {id(parameter): parameter for parameter in fresh.parameters()}
    for named in ("named_modules", "named_buffers"):
        of_module = dict(getattr(module, named)())
        memo |= {id(one): of_module[name] for name, one in getattr(fresh, named)() if name in of_module}
    changed, like = (dict(one.named_modules()).get(attribute.module) for one in (module, fresh))
    if changed is not None and like is not None:
        for now, before in ((changed.__dict__, like.__dict__), (changed._buffers, like._buffers)):
            now.pop(attribute.name, None)
            if attribute.name in before:
                now[attribute.name] = copy.deepcopy(before[attribute.name], memo)


@dataclass(frozen=True)
class Place:
    """A line that changes an attribute.

    Attributes:
        file: the source file.
        line: the line, from 1.
        function: the name of the function.
    """

    file: str
    line: int
    function: str

    @property
    def frame(self) -> str:
        """The line as in a stack trace."""
        return f'File "{self.file}", line {self.line}, in {self.function}'

    def __str__(self) -> str:
        return f"{path_shown(self.file)}:{self.line}, in {self.function}"


def place(module: torch.nn.Module, attribute: Attribute) -> Place | None:
    """Returns the line of Python that changes an attribute; None if no method of the module's classes seems to."""
    modules = dict(module.named_modules())
    own = type(modules[attribute.module])
    others = {type(one): None for one in modules.values()}
    for classes, is_own in (((own,), True), (others, False)):
        found = [
            (rank, order, line, Place(code.co_filename, line, code.co_name))
            for one in classes
            for order, function in enumerate(_methods(one))
            if (code := function.__code__).co_name != "__init__"
            for rank, line in _changes(function, attribute.name, is_own=is_own)
        ]
        if found:
            return min(found, key=lambda one: one[:3])[3]
    return None


def _methods(of: type) -> Iterator[FunctionType]:
    for base in of.__mro__[: of.__mro__.index(torch.nn.Module)]:
        for value in vars(base).values():
            function = inspect.unwrap(getattr(value, "fget", None) or getattr(value, "__func__", None) or value)
            if isinstance(function, FunctionType):
                yield function


def _changes(function: FunctionType, name: str, *, is_own: bool) -> Iterator[tuple[int, int]]:
    """Yields the lines of a function that may change an attribute, each after a rank.

    Assignments and methods that change an object have the first rank, then come other calls, then other lines with the
    attribute.

    Args:
        function: the function.
        name: the attribute.
        is_own: whether the attribute is one of the function's first argument.
    """
    definition = _definition(function)
    if definition is None:
        return
    arguments = [*definition.args.posonlyargs, *definition.args.args]

    def is_of_attribute(node: ast.expr) -> bool:
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            if isinstance(node, ast.Attribute) and node.attr == name:
                return not is_own or (
                    isinstance(node.value, ast.Name) and node.value.id in [one.arg for one in arguments[:1]]
                )
            node = node.value
        return False

    for node in ast.walk(definition):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and is_of_attribute(node):
            if not isinstance(node.ctx, ast.Load):
                yield 0, node.lineno
            elif is_own:
                yield 2, node.lineno
        elif isinstance(node, ast.Call) and is_of_attribute(node.func):
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            yield 0 if method in _CHANGING or method.endswith("_") else 1, node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr" and len(node.args) == 3:
            written = node.args[1]
            if isinstance(written, ast.Constant) and written.value == name:
                yield 0, node.lineno


def _definition(function: FunctionType) -> ast.FunctionDef | None:
    code = function.__code__
    with contextlib.suppress(OSError, SyntaxError, ValueError):
        for node in ast.walk(ast.parse(Path(code.co_filename).read_bytes())):
            if isinstance(node, ast.FunctionDef):
                # The first line of a function is that of its first decorator.
                lines = [*(one.lineno for one in node.decorator_list), node.lineno]
                if lines[0] == code.co_firstlineno:
                    return node
    return None
