"""Registers operators of these rules in PyTorch: each as a function and with an out argument, as programs call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

NAMESPACE = "rules_executorch"

# Operators last as long as the library that defines them.
_library = torch.library.Library(NAMESPACE, "FRAGMENT")


def register(name: str, arguments: str, function: Callable[..., Any], fake: Callable[..., Any]) -> None:
    """Registers an operator that gives one tensor.

    Args:
        name: without the namespace.
        arguments: as the schema writes them.
        function: calculates the result.
        fake: gives a tensor like the result, without its elements.
    """

    def out_variant(*args: Any, out: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        return out.copy_(function(*args, **kwargs))

    keywords = "" if "*" in arguments else "*, "
    _library.define(f"{name}({arguments}) -> Tensor")
    _library.define(f"{name}.out({arguments}, {keywords}Tensor(a!) out) -> Tensor(a!)")
    _library.impl(name, function, "CompositeExplicitAutograd")
    _library.impl(f"{name}.out", out_variant, "CompositeExplicitAutograd")
    torch.library.register_fake(f"{NAMESPACE}::{name}", fake, lib=_library)
