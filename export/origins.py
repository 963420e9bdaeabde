"""Where the instructions of a program come from: the lines of Python and the modules of the model.

A profile names the instructions that the runtime ran by their numbers only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from executorch.exir import ExecutorchProgramManager

# A frame of a stack trace as PyTorch keeps it with a node: the file, the line, the function and the code.
_FRAME = re.compile(r'^ *File "([^<].*)", line (\d+), in (.+)$\n?(?! *File ") *(.*)$', re.MULTILINE)
# What packages of Python are installed in.
_PACKAGES = re.compile(r".*/(?:site|dist)-packages/")


def collect(program: ExecutorchProgramManager, methods: Mapping[str, object]) -> bytes:
    """Where the instructions of each method come from, as JSON.

    `methods` has an object for each method, with an object for each instruction by its number: the operator or the
    backend, the module, and the frames of the stack, the innermost last, as indices of `frames`. What a backend took
    has `parts`, one for each node. Instructions in a branch of torch.cond and in a loop are left out.
    """
    frames: dict[tuple[str, int, str, str], int] = {}
    instructions = {
        name: {
            str(node.meta["debug_handle"]): _origin(node, frames)
            for node in program.exported_program(name).graph_module.graph.nodes
            if _is_instruction(node)
        }
        for name in methods
    }
    text = json.dumps({"frames": list(frames), "methods": instructions}, separators=(",", ":"), sort_keys=True)
    return (text + "\n").encode()


def _is_instruction(node: torch.fx.Node) -> bool:
    # The lowering numbers the instructions by the nodes' debug handles.
    has_number = isinstance(node.meta.get("debug_handle"), int)
    return has_number and (_backend_call(node) is not None or hasattr(node.target, "_schema"))


def _backend_call(node: torch.fx.Node) -> Any | None:
    """What a backend took, if the node is the call of a backend."""
    if getattr(node.target, "__name__", "") != "executorch_call_delegate":
        return None
    module = node.graph.owning_module
    return getattr(module, str(node.args[0].target)) if isinstance(node.args[0], torch.fx.Node) and module else None


def _origin(node: torch.fx.Node, frames: dict[tuple[str, int, str, str], int]) -> dict[str, object]:
    backend = _backend_call(node)
    if backend is not None:
        taken = [part for part in backend.original_module.graph.nodes if hasattr(part.target, "_schema")]
        return {"operator": backend.backend_id, "parts": [_origin(part, frames) for part in taken]}
    schema: Any = getattr(node.target, "_schema")  # noqa: B009  (PyTorch has no type for what has one)
    modules = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
    return {
        "operator": f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name,
        "module": modules[-1] if modules else "",
        "stack": [frames.setdefault(frame, len(frames)) for frame in _stack(node.meta.get("stack_trace") or "")],
    }


def _stack(stack_trace: str) -> list[tuple[str, int, str, str]]:
    """The frames of a stack trace, without those of PyTorch itself behind the last of the model."""
    stack = list(_frames(stack_trace))
    of_model = [index for index, frame in enumerate(stack) if not frame[0].startswith("torch/")]
    return stack[: of_model[-1] + 1] if of_model else stack


def _frames(stack_trace: str) -> Iterator[tuple[str, int, str, str]]:
    for file, line, function, code in _FRAME.findall(stack_trace):
        yield _shown(file), int(line), function, code


def _shown(file: str) -> str:
    """A path that is the same on every machine: below the working directory, below what packages are installed in, or
    the name alone."""
    packaged = _PACKAGES.sub("", file)
    if packaged != file:
        return packaged
    path = os.path.relpath(file)
    return Path(file).name if path.startswith("..") else path
