"""Measures compiled programs on an emulated Cortex-M7, beside the C that emx-onnx-cgen writes.

    tools/bazel run //tools/bench:devices_bench

Each image runs one inference of the same inputs. The emulator counts instructions (`-icount shift=0`). Code is the
text of an image without the constants, and without the text of an image that has no model. Writes a section of
docs/benchmarks.md.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from absl import app, flags

from tools.bench import report

_QEMU = flags.DEFINE_string("qemu", None, "QEMU's qemu-system-arm.", required=True)
_SIZE = flags.DEFINE_string("size", None, "The program `size` of the compiler.", required=True)

_FOLDER = Path("tools/bench/devices")
_INSTRUCTIONS_PER_TICK = 40
_MODELS = {
    "mlp": "a perceptron, 32-64-64-10",
    "lenet": "LeNet-5",
    "quantized_lenet": "LeNet-5 of 8 bits (PT2E)",
}
_COMPILERS = {
    "size": 'compiled, `optimize = "size"`',
    "speed": "compiled, for speed",
    "peer-Os": "emx-onnx-cgen, `-Os`",
    "peer-O2": "emx-onnx-cgen, `-O2`",
}
# Of outputs of the same model, in millionths.
_TOLERANCE = 20


@dataclass(frozen=True)
class Measured:
    """What an image takes.

    Attributes:
        text: code and constants, in bytes.
        memory: planned and scratch memory, or inputs and outputs, in bytes.
        stack: the stack, in bytes.
        instructions: the instructions of one inference.
        millionths: the outputs.
    """

    text: int
    memory: int
    stack: int
    instructions: int
    millionths: list[int]


def measure(name: str) -> Measured:
    """Runs an image."""
    image = _FOLDER / f"{name}_image"
    done = subprocess.run(
        [_QEMU.value, "-M", "mps2-an500", "-nographic", "-semihosting", "-icount", "shift=0", "-kernel", image],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
    )
    if done.returncode != 0:
        raise SystemExit(f"{name} failed: {done.stdout}{done.stderr}")
    said = json.loads((done.stdout + done.stderr).strip().splitlines()[-1])
    sizes = subprocess.run([_SIZE.value, image], capture_output=True, text=True, check=True).stdout
    text = int(sizes.splitlines()[1].split()[0])
    return Measured(text, said["memory"], said["stack"], said["ticks"] * _INSTRUCTIONS_PER_TICK, said["millionths"])


def rows() -> list[list[object]]:
    """Measures all images."""
    nothing = measure("nothing")
    result: list[list[object]] = []
    for model, title in _MODELS.items():
        outputs: list[int] = []
        for compiler, called in _COMPILERS.items():
            if not (_FOLDER / f"{model}_{compiler}_image").exists():
                continue
            if compiler.startswith("peer"):
                constants = int((_FOLDER / f"{model}_peer.bytes").read_text())
            else:
                constants = (_FOLDER / f"{model}_size.constants.bin").stat().st_size
            measured = measure(f"{model}_{compiler}")
            outputs = outputs or measured.millionths
            if any(abs(a - b) > _TOLERANCE for a, b in zip(outputs, measured.millionths, strict=True)):
                raise SystemExit(f"{model}_{compiler} has the outputs {measured.millionths}, not {outputs}")
            result.append(
                [
                    f"{title}; {called}",
                    f"{measured.text - nothing.text - constants:,}",
                    f"{constants:,}",
                    f"{measured.memory:,}",
                    f"{measured.stack - nothing.stack:,}",
                    f"{measured.instructions - nothing.instructions:,}",
                ]
            )
    return result


def main(argv: list[str]) -> None:
    del argv
    header = ["program", "code", "constants", "planned and scratch memory", "stack", "instructions"]
    section = (
        "## A Cortex-M7\n\n"
        "The table has bytes and instructions of one inference on an emulated Cortex-M7 (GCC 12; ours with `-Os`,"
        " except for the loops of `//kernels/fixed`, which have `-O2`). Code has the functions of the C library that"
        " the model needs. emx-onnx-cgen is another generator of C for microcontrollers. Its temporaries are on the"
        " stack, and its planned memory is inputs and outputs.\n\n"
        "    tools/bazel run //tools/bench:devices_bench\n\n" + report.table(header, rows())
    )
    report.publish("devices_bench", section)


if __name__ == "__main__":
    app.run(main)
