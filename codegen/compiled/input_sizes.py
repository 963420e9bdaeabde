"""The checks of the sizes of inputs: the program is right only for the sizes that its export allows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from codegen.compiled.method import Method
from codegen.model.execution_plan import InputDim

_REFUSED = "status_of(Error::InvalidArgument, -1)"


def of_input(method: Method, index: int) -> str:
    """Returns the statement of a resize function that refuses other sizes; an empty text if the program allows all.

    Args:
        method: the method.
        index: the index of the input among the method's values.
    """
    conditions = [
        condition
        for i, dims in _known(method)
        if i == index
        for number, dim in enumerate(dims)
        for condition in _conditions(f"sizes[{number}]", dim)
    ]
    return f"  if ({' || '.join(conditions)}) {{\n    return {_REFUSED};\n  }}\n" if conditions else ""


def of_call(method: Method) -> str:
    """Returns the statements of run() that refuse different sizes where the model has one size."""
    symbols: defaultdict[int, list[str]] = defaultdict(list)
    for index, dims in _known(method):
        for number, dim in enumerate(dims):
            if dim.symbol >= 0:
                size = f"dynamic_[{method.dynamic[index]}].sizes()[{number}]"
                symbols[dim.symbol].append(_symbol(size, dim))
    conditions = [f"{first} != {other}" for first, *others in symbols.values() for other in others]
    return "".join(f"  if ({condition}) return {_REFUSED};\n" for condition in conditions)


def _known(method: Method) -> Iterator[tuple[int, tuple[InputDim, ...]]]:
    """Yields the inputs with dynamic sizes, and their dimensions."""
    sizes = method.content.input_sizes.get(method.plan.name, ())
    for index, dims in zip(method.plan.inputs, sizes, strict=False):
        if index in method.dynamic and len(dims) == len(method.tensor(index).sizes):
            yield index, dims


def _conditions(size: str, dim: InputDim) -> Iterator[str]:
    """Yields the conditions for which a size is refused."""
    if dim.least == dim.most:
        yield f"{size} != {dim.most}"
        return
    if dim.least > 0:
        yield f"{size} < {dim.least}"
    yield f"{size} > {dim.most}"
    if dim.symbol >= 0 and dim.factor > 1:
        yield f"{_difference(size, dim)} % {dim.factor} != 0"


def _symbol(size: str, dim: InputDim) -> str:
    """Returns the value of the symbol for a size, in C++."""
    difference = _difference(size, dim)
    return difference if dim.factor == 1 else f"{difference} / {dim.factor}"


def _difference(size: str, dim: InputDim) -> str:
    if dim.offset == 0:
        return size
    return f"({size} {'-' if dim.offset > 0 else '+'} {abs(dim.offset)})"
