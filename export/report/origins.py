"""Maps the instructions of a program to the model's modules and lines of Python, and constants to their names.

The runtime's profile has the numbers of instructions only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

from export.patches.recorded_emission import Emission, Instruction
from export.user.frames import path_shown

# A frame of a node's stack trace: the file, the line, the function and the code.
_FRAME = re.compile(r'^ *File "([^<].*)", line (\d+), in (.+)$\n?(?! *File ") *(.*)$', re.MULTILINE)


def as_json(methods: Mapping[str, Emission], programs: Mapping[str, ExportedProgram]) -> bytes:
    """Returns the origins of all instructions, and the names of constants, as JSON.

    `methods` has an object for each method, with an object for each instruction by its number: the operator or the
    backend, the module, and the frames of the stack, the innermost last, as indices into `frames`. A call of a backend
    has `parts`, one for each node of the delegated graph. `constants` has an object for each method, with the name in
    the module of each value that has one.
    """
    frames: dict[tuple[str, int, str, str], int] = {}
    origins = {
        name: {str(number): _origin(instruction, frames) for number, instruction in emission.instructions.items()}
        for name, emission in methods.items()
    }
    constants = {name: dict(_named_values(programs[name], emission)) for name, emission in methods.items()}
    content = {"constants": constants, "frames": list(frames), "methods": origins}
    return (json.dumps(content, separators=(",", ":"), sort_keys=True) + "\n").encode()


def _named_values(program: ExportedProgram, emission: Emission) -> Iterator[tuple[str, str]]:
    """Yields the number of each value with a name in the module, and the name."""
    signature = program.graph_signature
    names = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    for placeholder, value in emission.placeholders.items():
        if placeholder in names:
            yield str(value), names[placeholder]


def _origin(instruction: Instruction, frames: dict[tuple[str, int, str, str], int]) -> dict[str, object]:
    *around, node = instruction.nodes
    if not instruction.operator:
        backend: Any = getattr(node.graph.owning_module, str(node.all_input_nodes[0].target))
        taken = [part for part in backend.original_module.graph.nodes if hasattr(part.target, "_schema")]
        parts = [_origin(Instruction((*around, part), _name(part)), frames) for part in taken]
        return {"operator": backend.backend_id, "parts": parts}
    modules = [path for each in instruction.nodes for path, _ in (each.meta.get("nn_module_stack") or {}).values()]
    return {
        "operator": instruction.operator,
        "module": modules[-1] if modules else "",
        "stack": [
            frames.setdefault(frame, len(frames))
            for each in instruction.nodes
            for frame in _frames_of_model(each.meta.get("stack_trace") or "")
        ],
    }


def _name(node: torch.fx.Node) -> str:
    """Returns the name of the operator of a delegated node."""
    schema: Any = getattr(node.target, "_schema")  # noqa: B009  (PyTorch has no type for what has one)
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)


def _frames_of_model(stack_trace: str) -> list[tuple[str, int, str, str]]:
    """Returns the frames of a stack trace, without PyTorch's frames before and after the frames of the model."""
    stack = [(_shown(file), int(line), function, code) for file, line, function, code in _FRAME.findall(stack_trace)]
    of_model = [index for index, frame in enumerate(stack) if not frame[0].startswith("torch/")]
    return stack[of_model[0] : of_model[-1] + 1] if of_model else stack


def without_folders(stack_trace: str) -> str:
    """Returns a stack trace with paths that are the same on every machine."""
    return re.sub(r'(?<=File ")([^<"].*?)(?=")', lambda path: _shown(path[0]), stack_trace)


def _shown(file: str) -> str:
    """Returns a path that is the same on every machine: of a file elsewhere, the name."""
    path = Path(path_shown(file))
    return path.name if path.is_absolute() or ".." in path.parts else str(path)
