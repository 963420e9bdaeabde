"""Tests that a pass which goes wrong is found, and named."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

from absl.testing import absltest
from torch.export import ExportedProgram

from export.fuzz.check import Check, Counts, Failure, RefusedError
from export.fuzz.draft import draft
from export.fuzz.judge import Reference
from export.fuzz.kernels import Kernels, MissingOperatorsError
from export.fuzz.programs import Programs
from export.fuzz.spec import Spec, Step, parse
from export.graph_passes import graphs, passes
from export.graph_passes.graph_pass import Change, Sites

_ATEN = graphs.EDGE.aten
_MODULE = draft(Spec(steps=(Step("linear"), Step("activation", (3,)))))

# ExecuTorch's to_executorch() would make two sizes of the input constant.
_SMALL_IMAGES = parse(
    """{"inputs": [31, 8, 23, 10, 14], "steps": [
        {"kind": "transposed_convolution", "numbers": [53, 12, 6, 6, 61, 37, 63, 43, 47, 19]},
        {"kind": "part", "numbers": [60]},
        {"kind": "write_input", "numbers": []},
        {"kind": "convolution", "numbers": []}
    ], "results": [46, 20, 7, 23, 53, 13, 8, 53, 63, 3, 2, 30, 29]}"""
)

# Batch norm in the convolution changes one element of the cast's result by a step of bfloat16.
_CAST = parse(
    """{"inputs": [], "steps": [
        {"kind": "join", "numbers": [14, 26]},
        {"kind": "counter", "numbers": []},
        {"kind": "cumulative", "numbers": [1, 1]},
        {"kind": "residual_layer", "numbers": [0, 0, 1, 1, 27]},
        {"kind": "cast", "numbers": [2]},
        {"kind": "embedding", "numbers": [1]},
        {"kind": "written_norm", "numbers": []},
        {"kind": "embedding", "numbers": [1, 26]}
    ], "results": []}"""
)


def _made_tanh(program: ExportedProgram, sites: Sites) -> Sequence[Change]:
    changes = []
    for call in sites.calls(_ATEN.sigmoid.default):
        call.target = _ATEN.tanh.default
        changes.append(Change.of(call, "a sigmoid made another function"))
    return changes


def _raises(program: ExportedProgram, sites: Sites) -> Sequence[Change]:
    for _ in sites.calls(_ATEN.sigmoid.default):
        raise ValueError("no sigmoid")
    return []


class _LacksKernels(Kernels):
    """A runner without kernels for the programs of one selection of passes, which stands in place of the runner."""

    def wrong(self, programs: Programs, reference: Reference, names: Sequence[str]) -> tuple[str, str]:
        if list(names) == list(self.runner.parts):
            raise MissingOperatorsError("aten::sigmoid.out")
        return "", ""


class CheckTest(absltest.TestCase):
    def _failures(self, run: Callable[[ExportedProgram, Sites], Sequence[Change]] | None) -> list[Failure]:
        known = [
            dataclasses.replace(one, run=run) if run is not None and one.name == "no_ops" else one
            for one in passes.PASSES
        ]
        check = Check(Path(self.create_tempdir().full_path), Counts())
        with mock.patch.object(passes, "PASSES", tuple(known)):
            return check(_MODULE)

    def test_passes_are_right(self) -> None:
        self.assertEmpty(self._failures(None))

    def test_wrong_pass(self) -> None:
        failures = self._failures(_made_tanh)
        said = ["no_ops: wrong", "no_ops with default: wrong", "no_ops with all: wrong"]
        self.assertEqual([one.of_class for one in failures], said)
        self.assertIn("torch.sigmoid(", failures[0].source)

    def test_pass_that_raises(self) -> None:
        alone = self._failures(_raises)[0]
        self.assertEqual(alone.of_class, "no_ops: raises ValueError in check_test.py:_raises")
        self.assertEqual(alone.said, "ValueError no sigmoid")

    def test_missing_kernels_of_the_module(self) -> None:
        counts = Counts()
        check = Check(Path(self.create_tempdir().full_path), counts, _LacksKernels(Path()))
        self.assertEmpty(check(_MODULE))
        self.assertEqual(counts.without_kernels, {"aten::sigmoid.out": 1})

    def test_missing_kernels_after_passes(self) -> None:
        check = Check(Path(self.create_tempdir().full_path), Counts(), _LacksKernels(Path("all")))
        (failure,) = check(_MODULE)
        self.assertEqual((failure.names, failure.at, failure.said), (("all",), "kernels", "aten::sigmoid.out"))

    def test_sizes_stay_variable_after_the_first_program(self) -> None:
        check = Check(Path(self.create_tempdir().full_path), Counts())
        self.assertEmpty(check(draft(_SMALL_IMAGES), [("default",), ("all",)]))

    def test_writing_a_program_leaves_the_next_one_as_it_was(self) -> None:
        path = Path(self.create_tempdir().full_path, "model.py")
        path.write_text(_MODULE.source())
        programs = Programs(path)
        code = programs.lower([]).exported_program().graph_module.code
        programs.emit(programs.lower([]))
        self.assertEqual(code, programs.lower([]).exported_program().graph_module.code)

    def test_step_of_a_dtype_is_no_difference(self) -> None:
        check = Check(Path(self.create_tempdir().full_path), Counts())
        self.assertEmpty(check(draft(_CAST), [("batch_norm",)]))

    def test_modules_that_pytorch_refuses(self) -> None:
        refused = dataclasses.replace(_MODULE, forward=("y0 = x0.nonzero().tolist()",), gives=("y0",))
        check = Check(Path(self.create_tempdir().full_path), Counts())
        with self.assertRaisesRegex(RefusedError, "torch.export: "):
            check(refused)


if __name__ == "__main__":
    absltest.main()
