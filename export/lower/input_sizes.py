"""The sizes of inputs: refuses sizes without an upper bound, and warns of smaller ones than the user asks for.

ExecuTorch would plan the memory for the sizes of the example inputs, and the program would refuse larger inputs.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.export import ExportedProgram
from torch.utils._sympy.numbers import int_oo

from diagnostics.errors import Finding, InputError
from export.graph_passes import graphs
from export.graph_passes.rewrites import recurrent
from export.patches import condition_places
from export.patches.condition_places import Condition
from export.user import asked_sizes
from export.user.model_file import Method

# The sizes of an example that torch.export fixes, since tensors of such sizes behave in another way, as in broadcasts.
_FIXED_SIZES = (0, 1)
# torch.export assumes that sizes are at least 2. Most programs are right for 1, too.
LEAST_OF_EXPORT = 2
_VIEWS = ("aten::reshape", "aten::view")


def check(method: Method, exported: ExportedProgram) -> None:
    """Checks that the sizes of the inputs of a method have upper bounds, and that the samples have such sizes.

    Raises:
        InputError: a size has no upper bound, or a sample has another size. The error has a finding for each.
    """
    findings = [
        Finding(
            method.at,
            f"the input {name} of {method.name}() has no largest size in dimension {dim}",
            "get_dynamic_shapes() has a dimension without max. A program has planned memory, so that"
            " ExecuTorch would take the size of the example inputs for the largest one.",
            'name the largest size that a run needs, such as torch.export.Dim("n", max=512) or'
            " torch.export.Dim.AUTO(max=512).",
            id="unbounded-size",
        )
        for name, value in graphs.user_inputs(exported)
        for dim, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ())
        if bounds(size)[1] is int_oo
    ]
    findings = findings or list(_samples_beyond(method, exported))
    if findings:
        raise InputError(findings)


def _samples_beyond(method: Method, exported: ExportedProgram) -> Iterator[Finding]:
    """Yields a finding for each size of a sample that the program does not have."""
    if recurrent.has_layers(exported):
        return  # As in `narrowed`.
    values = list(graphs.user_inputs(exported))
    for index, given in enumerate(method.samples):
        for (name, value), leaf in zip(values, given.flatten()[0], strict=False):
            if not (isinstance(value, torch.Tensor) and isinstance(leaf, torch.Tensor)):
                continue
            for dim, (size, has) in enumerate(zip(value.shape, leaf.shape, strict=True)):
                least, most = bounds(size)
                if has > most or has < least > LEAST_OF_EXPORT:
                    yield Finding(
                        method.at,
                        f"sample {index} of {method.name}() has the size {has} in dimension {dim} of the input {name},"
                        f" and the program has {f'the size {most}' if least == most else f'{least} to {most}'}",
                        "get_dynamic_shapes() gives other bounds; or torch.export has narrowed the size, as for"
                        " `if x.shape[1] > 4:`.",
                        "give bounds that all samples fit, or leave out the sample.",
                        id="wrong-return-value",
                    )


def narrowed(method: Method, exported: ExportedProgram) -> Iterator[Finding]:
    """Yields a warning for each size of an input that torch.export has made smaller than the user asks for."""
    if recurrent.has_layers(exported):
        return  # Without the graph pass `recurrent`, time steps are fixed. `recurrent.check_steps` says so.
    conditions = condition_places.conditions(exported)
    leaves = zip(graphs.user_inputs(exported), asked_sizes.of(method), asked_sizes.names(method), strict=False)
    for (name, value), asked, path in leaves:
        for dim, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            asked_most = asked_sizes.most_of_hint(asked.get(dim))
            if asked_most is not None and bounds(size)[1] < asked_most:
                of_size = f"{path}.shape[{dim}]"
                by = next((one for one in conditions if _is_excluded(one, of_size, asked_most)), None)
                yield _narrowed(method, f"the input {name} of {method.name}()", dim, size, asked_most=asked_most, by=by)


def fixed_views(method: Method, exported: ExportedProgram) -> Iterator[Finding]:
    """Yields a warning for each view with fixed sizes of a tensor with open sizes. ExecuTorch does not lower all."""
    for node in exported.graph.nodes:
        if graphs.name_of(node) not in _VIEWS:
            continue
        base, sizes = node.args[:2]
        is_open = any(isinstance(size, torch.SymInt) for size in base.meta["val"].shape)
        if not is_open or not all(isinstance(size, int) and size >= 0 for size in sizes):
            continue
        at, details = method.source.frames_of_text(node.meta.get("stack_trace") or "")
        yield Finding(
            at or method.at,
            f"{method.name}() has a view with the fixed sizes {[*sizes]}, and get_dynamic_shapes() asks for other"
            " sizes, too",
            f"{'this line' if at else 'a line of the model'} fits the sizes of the example input only.",
            "write a size that varies as x.shape[0] or -1, as in x.view(x.shape[0], -1); or ask for fixed sizes.",
            details,
            id="narrowed-size",
            severity="warning",
        )


def bounds(size: int | torch.SymInt) -> tuple[int, int]:
    """Returns the smallest and the largest size for torch.export; int_oo for no largest one."""
    if not isinstance(size, torch.SymInt):
        return size, size
    bounds = size.node.shape_env.bound_sympy(size.node.expr)
    return bounds.lower, bounds.upper


def _is_excluded(condition: Condition, name: str, size: int) -> bool:
    """Returns whether a condition does not hold for a size of an input."""
    return [*condition.names.values()] == [name] and condition.excludes(dict.fromkeys(condition.names, size))


def _narrowed(
    method: Method, what: str, dim: int, size: int | torch.SymInt, *, asked_most: int, by: Condition | None
) -> Finding:
    least, most = bounds(size)
    has = f"the fixed size {most}" if least == most else f"sizes up to {most} only"
    at, details = method.source.frames_of_text(by.stack_trace if by else "")
    cause = (
        f"{'this line' if at else 'a line of the model'} needs such a size, as `if x.shape[1] > 4:`, len(x) and"
        f" math.sqrt(x.shape[1]) do{'' if at else ', or the weights need the size'}. torch.export then narrows sizes of"
        " Dim.AUTO and Dim.DYNAMIC without a word."
    )
    fix = (
        "change this line, as by x.shape[0] for len(x), and x.shape[1] ** 0.5 for math.sqrt(x.shape[1]); or ask for the"
        " sizes that are possible."
    )
    if at is None:
        fix = (
            f'give torch.export.Dim("n", max={asked_most}) in place of the hint: torch.export then says what narrows'
            " the size. Change this line, or ask for the sizes that are possible."
        )
    if most in _FIXED_SIZES:
        cause = f"the example input has the size {most}, and torch.export fixes such sizes of Dim.AUTO."
        fix = "give an example input with a size of 2 or more in get_model()."
    return Finding(
        at or method.at,
        f"{what} has {has} in dimension {dim}, and get_dynamic_shapes() asks for sizes up to {asked_most}",
        cause,
        fix,
        details,
        id="narrowed-size",
        severity="warning",
    )
