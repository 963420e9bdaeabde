"""From a model file to a program with samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from export import model_file, program, samples


def export(model: Path, entry_point: str = "get_model", import_paths: Sequence[Path] = ()) -> tuple[bytes, bytes]:
    """Exports a model file.

    Args:
        model: the Python file.
        entry_point: the name of the function in it that returns the model.
        import_paths: folders of the user's own modules, for errors; they must be on sys.path already.
    Returns:
        The program (.pte) and its samples (.ptd).
    Raises:
        InputError: the model file is not as it should be, or PyTorch or ExecuTorch refused the model.
    """
    torch.set_num_threads(1)  # The sums of a reduction come out the same on every machine then.
    methods = model_file.load(model, entry_point, import_paths, rule="executorch_program")
    # Samples are recorded before the export, which may change the module.
    recorded = {method.name: samples.record(method) for method in methods}
    built = program.build(methods, recorded)
    of_program = {
        name: [sample.with_written(built.written[name]) for sample in runs] for name, runs in recorded.items()
    }
    return built.pte, samples.serialize(of_program)
