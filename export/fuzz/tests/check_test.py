"""Tests that wrong programs are found, and the passes that make them wrong."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

from absl.testing import absltest
from torch.export import ExportedProgram
from torch.fx import Node

from export.fuzz import programs as fuzz_programs
from export.fuzz.check import Check, Counts, Failure, RefusedError
from export.fuzz.draft import Draft, draft
from export.fuzz.judge import Reference
from export.fuzz.kernels import Kernels, MissingOperatorsError
from export.fuzz.programs import Programs
from export.fuzz.quantization import QUANTIZATIONS
from export.fuzz.spec import Spec, Step, parse
from export.graph_passes import graphs, passes
from export.graph_passes.calls import Neg, Sigmoid, Tanh
from export.graph_passes.graph_pass import Change, Rewrite
from export.lower import program
from export.lower.decompositions import DECOMPOSITIONS
from export.memory import layouts, separate_values, writes

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


# ExecuTorch gives both results the same memory.
_TWO_CONDS = dataclasses.replace(
    _MODULE,
    forward=(
        "y0 = cond(x0.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x0,))",
        "y1 = cond(x0.sum() > 1, lambda x: x * 3, lambda x: x - 2, (x0,))",
    ),
    gives=("y0", "y1"),
)
# ExecuTorch does not write to the buffer.
_COPIED_BUFFER = dataclasses.replace(
    _MODULE,
    init=('self.register_buffer("s", torch.ones(16))', 'self.register_buffer("p", torch.zeros(16))'),
    forward=("y0 = x0.sum() + self.s", "self.s.copy_(self.p)"),
    gives=("y0",),
)
# ExecuTorch makes a view of channels-last memory.
_VIEW_OF_LAST = draft(Spec(inputs=(0, 22, 1), steps=(Step("split_channels"),)))


def _make_tanh(_: ExportedProgram, node: Node, sigmoid: Sigmoid[Node]) -> Change:
    return Change(node, "a sigmoid made another function", Tanh(sigmoid.input))


def _make_tanh_after_negations(program: ExportedProgram, node: Node, sigmoid: Sigmoid[Node]) -> Change | None:
    return _make_tanh(program, node, sigmoid) if [*Neg.each(program.graph.nodes)] else None


def _negate_twice(_: ExportedProgram, node: Node, sigmoid: Sigmoid[Node]) -> Change:
    source = Neg(sigmoid.input).insert(node, graphs.value(node))
    return Change(node, "negated twice", Sigmoid(Neg(source).insert(node, graphs.value(node))))


def _raise(_: ExportedProgram, node: Node, sigmoid: Sigmoid[Node]) -> Change:
    raise ValueError("no sigmoid")


def _rewriting(**rewrites: Rewrite) -> AbstractContextManager[Any]:
    """In the block, some passes rewrite sigmoids instead."""
    known = {one.name: one for one in passes.PASSES}
    for name, rewrite in rewrites.items():
        known[name] = dataclasses.replace(known[name], roots=(Sigmoid,), rewrite=rewrite, run=None)
    return mock.patch.object(passes, "PASSES", tuple(known.values()))


class _LacksKernels(Kernels):
    """A runner without kernels for the programs of one selection of passes, which stands in place of the runner."""

    def wrong(self, programs: Programs, reference: Reference, names: Sequence[str]) -> tuple[str, str]:
        if list(names) == list(self.runner.parts):
            raise MissingOperatorsError("aten::sigmoid.out")
        return "", ""


class CheckTest(absltest.TestCase):
    def _check(self, draft: Draft, *only: tuple[str, ...], with_each: bool = False) -> list[Failure]:
        return Check(Path(self.create_tempdir().full_path), Counts(), with_each=with_each)(draft, only)

    def _failures(self, *, with_each: bool = False, **rewrites: Rewrite) -> list[Failure]:
        """Checks a module with other rewrites of some passes."""
        with _rewriting(**rewrites):
            return self._check(_MODULE, with_each=with_each)

    def test_passes_are_right(self) -> None:
        self.assertEmpty(self._failures())

    def test_wrong_pass(self) -> None:
        (failure,) = self._failures(no_ops=_make_tanh)
        self.assertEqual((failure.of_class, failure.names), ("no_ops: wrong", ("no_ops",)))
        self.assertIn("torch.sigmoid(", failure.source)

    def test_wrong_pass_that_no_group_needs(self) -> None:
        self.assertEmpty(self._failures(quantized_moves=_make_tanh_after_negations))
        alone = self._failures(with_each=True, quantized_moves=_make_tanh)
        self.assertEqual([one.of_class for one in alone], ["quantized_moves: wrong"])

    def test_pass_that_is_wrong_after_another_one(self) -> None:
        failures = self._failures(constants=_negate_twice, views=_make_tanh_after_negations)
        self.assertEqual([one.of_class for one in failures], ["views with default: wrong", "views with all: wrong"])

    def test_pass_that_raises(self) -> None:
        (failure,) = self._failures(no_ops=_raise)
        self.assertEqual(failure.of_class, "no_ops: raises ValueError in check_test.py:_raise")
        self.assertEqual(failure.said, "ValueError no sigmoid")

    def test_changing_passes_are_counted(self) -> None:
        counts = Counts()
        self.assertEmpty(Check(Path(self.create_tempdir().full_path), counts)(_MODULE))
        self.assertEqual(counts.acted["linear"], 1)
        self.assertNotIn("attention", counts.acted)

    def test_programs_that_executorch_alone_makes_wrong(self) -> None:
        separate = mock.patch.object(separate_values, "separate", lambda _: None)
        prepare = mock.patch.object(writes, "prepare", lambda _: None)
        in_order = mock.patch.object(layouts.ExplicitLayouts, "_in_order", lambda _self, value, *_: value)
        for module, mends, said in (
            (_TWO_CONDS, (separate,), "fault, an output of the method lies in memory"),
            (_COPIED_BUFFER, (prepare, separate), "wrong"),
            (_VIEW_OF_LAST, (in_order,), "fault, a view of memory"),
        ):
            with self.subTest(said):
                self.assertEmpty(self._check(module))
                with contextlib.ExitStack() as without:
                    for mend in mends:
                        without.enter_context(mend)
                    (failure,) = self._check(module)
                self.assertEqual((failure.names, failure.at), ((), "program"))
                self.assertStartsWith(failure.of_class, f"program with no passes: {said}")

    def test_exceptions_of_our_own_code(self) -> None:
        def raises(_: ExportedProgram) -> None:
            raise ValueError("not finished")

        def makes_torch_raise(exported: ExportedProgram) -> None:
            exported.graph.output_node().args = ((),)

        for broken, kind in ((raises, "raises ValueError in check_test.py:raises"), (makes_torch_raise, "raises ")):
            with mock.patch.object(program, "finish", broken):
                (failure,) = self._check(_MODULE)
            self.assertStartsWith(failure.of_class, f"program with no passes: {kind}")

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
        self.assertEmpty(self._check(draft(_SMALL_IMAGES), ("default",), ("all",)))

    def test_writing_a_program_leaves_the_next_one_as_it_was(self) -> None:
        path = Path(self.create_tempdir().full_path, "model.py")
        path.write_text(_MODULE.source())
        programs = Programs(path)
        code = programs.lower([]).code
        programs.emit(programs.lower([]))
        self.assertEqual(code, programs.lower([]).code)

    def test_step_of_a_dtype_is_no_difference(self) -> None:
        self.assertEmpty(self._check(draft(_CAST), ("batch_norm",)))

    def test_samples_of_other_strides(self) -> None:
        for number in range(5, 9):
            made = draft(Spec((0, 0, number), (Step("linear"),)))
            self.assertIn(made.inputs[0].layout, ("permuted", "strided", "expanded", "transposed", ""))
            self.assertEmpty(self._check(made))

    def test_modules_that_pytorch_refuses(self) -> None:
        refused = dataclasses.replace(_MODULE, forward=("y0 = x0.nonzero().tolist()",), gives=("y0",))
        with self.assertRaisesRegex(RefusedError, "torch.export: "):
            self._check(refused)

    def test_modules_that_executorch_refuses(self) -> None:
        # PyTorch's lowering of the attention, which an export replaces, gives the result other strides.
        of_pytorch = {one: made for one, made in DECOMPOSITIONS.items() if "attention" not in str(one)}
        attention = "y0 = F.scaled_dot_product_attention(*[x0[:, :1]] * 3).transpose(1, 2).flatten(2)"
        refused = dataclasses.replace(_MODULE, forward=(attention, "y1 = (y0 * 2).view(-1)"), gives=("y1",))
        with (
            mock.patch.object(fuzz_programs, "DECOMPOSITIONS", of_pytorch),
            self.assertRaisesRegex(RefusedError, "ExecuTorch: ValueError Cannot view a tensor"),
        ):
            self._check(refused, ("no_ops",))
        self.assertEmpty(self._check(refused, ("no_ops",)))

    def test_module_that_executorch_takes_after_passes(self) -> None:
        """PyTorch's lowering keeps operators of torchao, which have no out variants, unless a pass replaces them."""
        (rows,) = (one for one in QUANTIZATIONS if one.name == "rows of 8 bits")
        module = dataclasses.replace(_MODULE, quantization=rows)
        with self.assertRaisesRegex(RefusedError, "ExecuTorch: RuntimeError Missing out variants"):
            self._check(module, ("no_ops",))
        self.assertEmpty(self._check(module))
        with _rewriting(no_ops=_make_tanh):
            (failure,) = self._check(module)
        # Without this pass, there is no program that could be wrong.
        self.assertEqual(failure.of_class, "dynamic_linear with all: wrong")


if __name__ == "__main__":
    absltest.main()
