"""Finds operators that are registered with PyTorch."""

from __future__ import annotations

import torch

from diagnostics.errors import InputError, Location
from diagnostics.suggest import did_you_mean, nearest_operators

_SHOWN = 10


def find(name: str, where: Location) -> torch._ops.OpOverload:
    """Returns the operator of a name, `namespace::name` or `namespace::name.overload`.

    Args:
        name: the name. The overload may be missing if the operator has only one overload, or an unnamed one.
        where: the place in error messages.
    Raises:
        InputError: there is no such operator, or there are several overloads.
    """
    registered = torch._C._dispatch_get_all_op_names()
    overloads = [other for other in registered if other.partition(".")[0] == name]
    if name in registered:
        found = name
    elif len(overloads) == 1:
        found = overloads[0]
    elif overloads:
        raise InputError.of(
            where,
            f"{name} is {len(overloads)} operators: {', '.join(sorted(overloads))}",
            "the operator is overloaded, and each overload is tested by itself.",
            f'name the one to test: op = "{min(overloads)}".',
            id="unknown-torch-operator",
        )
    else:
        raise _unknown(name, registered, where)
    namespace, _, rest = found.partition("::")
    base, _, overload = rest.partition(".")
    operator: torch._ops.OpOverload = getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
    return operator


def _unknown(name: str, registered: list[str], where: Location) -> InputError:
    namespace = name.partition("::")[0]
    beside = sorted(other for other in registered if other.startswith(f"{namespace}::"))
    more = f", and {len(beside) - _SHOWN} more" if len(beside) > _SHOWN else ""
    details = f"registered in {namespace}: " + (", ".join(beside[:_SHOWN]) + more if beside else "nothing")
    near = nearest_operators(name, [other for other in registered if not other.startswith("aten::")] or registered)
    return InputError.of(
        where,
        f"no operator {name} is registered{did_you_mean(near)}",
        "a typo, or no module that the sample file imports loads the library with the operator.",
        "name the library that defines it in `deps` (of a torch_op_library its companion py_library), and import"
        " its module in the sample file.",
        (details,),
        id="unknown-torch-operator",
    )
