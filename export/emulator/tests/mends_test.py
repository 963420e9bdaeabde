"""Without one of the mends of wrong programs, the export of a module of its kind fails."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from absl.testing import absltest

from diagnostics.errors import InputError
from export.emulator.tests.kinds import KINDS
from export.exporter import export
from export.graph_passes.aliases import Aliases
from export.lower import tracing, whole_numbers
from export.memory import assigned_buffers, layouts, separate_values, writes
from export.patches import (
    bounded_unique,
    buffer_assignments,
    causal_masks,
    converting_copies,
    dense_attention,
    gradient_regions,
    known_values,
    open_sizes,
    redirected_calls,
    scalar_dtypes,
    scalar_indices,
)


def _nothing(*_: Any) -> None:
    pass


def _without(where: Any, name: str, instead: Any = _nothing) -> AbstractContextManager[Any]:
    return mock.patch.object(where, name, instead)


_set_fast_path = torch.backends.mha.set_fastpath_enabled


def _enable_fast_path(_: bool) -> None:
    _set_fast_path(True)


def _copies_of(*orders: str) -> AbstractContextManager[Any]:
    """Leaves copies of layouts out, but those for some orders."""
    in_order = layouts.ExplicitLayouts._in_order

    def some(self: Any, value: Any, order: str, meta: Any) -> Any:
        return in_order(self, value, order if order in orders else "", meta)

    return _without(layouts.ExplicitLayouts, "_in_order", some)


def _with_validation() -> AbstractContextManager[None]:
    # PyTorch's compiler, which another export may have started, leaves the checks out, too.
    torch.distributions.Distribution.set_default_validate_args(True)
    return contextlib.nullcontext()


_EXPORTED = "return torch.export.export(Model(), (torch.tensor([1.0, 2.0]),)).run_decompositions()"
_ALL = ("all",)
_DEFAULT = ("default",)
# The kind, the passes, and the mend that is taken out.
_CASES: Sequence[tuple[str, tuple[str, ...], AbstractContextManager[Any]]] = (
    ("pixel_shuffle of a channels-last input", (), _copies_of()),
    ("patches of a value made channels-last", _DEFAULT, _copies_of()),
    ("vision transformer's patches", _ALL, _copies_of()),
    ("a norm between wide convolutions", _ALL, _copies_of("contiguous")),
    ("a parameter written between two reads", (), _without(writes, "_make_buffers")),
    ("a delay line", (), _without(writes, "_copies_to_placeholder", lambda _: False)),
    ("two conds on one input", (), _without(separate_values, "_separate_results")),
    ("a view of a cond", _DEFAULT, _without(separate_values, "_is_view", lambda _: False)),
    # Its results have the right elements, and another dtype.
    ("a copy of floats into a buffer of float16", (), _without(converting_copies, "kept", contextlib.nullcontext)),
    ("a copy of floats into a buffer of int32", _ALL, _without(converting_copies, "kept", contextlib.nullcontext)),
    ("a written view, viewed and returned", _DEFAULT, _without(Aliases, "_is_copied", lambda *_: False)),
    ("the former value of an assigned buffer", (), _without(assigned_buffers, "prepare")),
    ("a view of the former value of an assigned buffer", _DEFAULT, _without(assigned_buffers, "prepare")),
    ("an assigned buffer of a submodule", (), _without(buffer_assignments, "copied", contextlib.nullcontext)),
    (
        "an assigned buffer after one without a value",
        _DEFAULT,
        _without(buffer_assignments, "copied", contextlib.nullcontext),
    ),
    ("a branch of a buffer", (), _without(known_values, "known", lambda but: contextlib.nullcontext(set()))),
    ("steps of an attribute", (), _without(known_values, "known", lambda but: contextlib.nullcontext(set()))),
    ("the data of tensors", (), _without(redirected_calls, "redirected", contextlib.nullcontext)),
    ("a tensor of results", (), _without(redirected_calls, "redirected", contextlib.nullcontext)),
    ("the data of a result", (), _without(redirected_calls, "_share_memory")),
    ("calls that raise", (), _without(tracing, "_erase_failed_calls")),
    ("copies", (), _without(redirected_calls, "redirected", contextlib.nullcontext)),
    ("repeats of a buffer", (), _without(redirected_calls, "redirected", contextlib.nullcontext)),
    ("repeats of a buffer", (), _without(tracing, "_unknown_numbers", lambda _: 0)),
    ("a row at a position", (), _without(scalar_indices, "written", contextlib.nullcontext)),
    ("a buffer that is written with gradients", (), _without(gradient_regions, "dissolved", contextlib.nullcontext)),
    ("the log of a density", (), _without(tracing, "_without_validation", _with_validation)),
    ("a value viewed before a region", _ALL, _without(tracing, "_restore_users")),
    ("the inverse of a pooling", _DEFAULT, _without(Aliases, "_is_copied", lambda *_: False)),
    ("a transformer with padding", (), _without(torch.backends.mha, "set_fastpath_enabled", _enable_fast_path)),
    ("a remainder of a negative number", (), _without(whole_numbers, "rewrite")),
    ("padding to a multiple", _ALL, _without(whole_numbers, "rewrite")),
    ("transformers with masks", (), _without(causal_masks, "unasked", contextlib.nullcontext)),
    ("attention by a function of positions", (), _without(dense_attention, "traced", contextlib.nullcontext)),
    ("sizes: steps between numbers", (), _without(open_sizes, "kept", contextlib.nullcontext)),
    ("sizes: a code of positions", (), _without(open_sizes, "kept", contextlib.nullcontext)),
    ("sizes: pools of rows", (), _without(open_sizes, "kept", contextlib.nullcontext)),
    ("sizes: pools of all rows", (), _without(open_sizes, "kept", contextlib.nullcontext)),
    ("slices of selected rows", (), _without(open_sizes, "kept", contextlib.nullcontext)),
    ("a mask larger than its tensor", (), _without(redirected_calls, "_ALIKE", {})),
    ("covariances", (), _without(redirected_calls, "_ALIKE", {})),
    ("unique items of the last dimension", (), _without(bounded_unique, "bounded", contextlib.nullcontext)),
    ("numbers beside tensors of no dimensions", (), _without(scalar_dtypes, "kept", contextlib.nullcontext)),
    ("sizes: powers", _DEFAULT, _without(whole_numbers, "rewrite")),
    ("sizes: shifts and absolute values", (), _without(whole_numbers, "rewrite")),
    ("sizes: roundings", (), _without(whole_numbers, "rewrite")),
)
# The ids of the errors without the mend, where no program is made.
_FAILING = {
    **dict.fromkeys(("a delay line", "a branch of a buffer", "steps of an attribute"), "user-code-raised"),
    **dict.fromkeys(("a row at a position", "a buffer that is written with gradients"), "user-code-raised"),
    **dict.fromkeys(("the data of tensors", "a tensor of results", "the log of a density"), "user-code-raised"),
    **dict.fromkeys(("calls that raise", "copies", "slices of selected rows", "covariances"), "user-code-raised"),
    "a mask larger than its tensor": "user-code-raised",
    "repeats of a buffer": "unbounded-size",
    **dict.fromkeys(("transformers with masks", "attention by a function of positions"), "user-code-raised"),
    **dict.fromkeys(("sizes: powers", "sizes: shifts and absolute values", "sizes: roundings"), "user-code-raised"),
    **dict.fromkeys(
        (
            "sizes: steps between numbers",
            "sizes: a code of positions",
            "sizes: pools of rows",
            "sizes: pools of all rows",
        ),
        "wrong-return-value",
    ),
    "a value viewed before a region": "graph-pass-failed",
}


class MendsTest(absltest.TestCase):
    def export(self, source: str, *passes: str) -> None:
        model = Path(self.create_tempdir().full_path) / "model.py"
        model.write_text(source)
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            export(model, graph_passes=passes, strict_passes=True)

    def test_each(self) -> None:
        for kind, passes, taken_out in _CASES:
            with self.subTest(kind):
                self.export(KINDS[kind].source(), *passes)
                with taken_out, self.assertRaises(InputError) as caught:
                    self.export(KINDS[kind].source(), *passes)
                self.assertEqual(caught.exception.findings[0].id, _FAILING.get(kind, "wrong-program"))

    def test_without_copies_of_outputs(self) -> None:
        # The graph is functional already, so that no call of copy_ is left which could get a source of its own.
        source = KINDS["a buffer from a buffer"].source()
        source = source.replace("return Model(), (torch.tensor([1.0, 2.0]), )", _EXPORTED)
        self.export(source)
        taken_out = mock.patch.object(separate_values, "_separate_outputs")
        with taken_out, self.assertRaisesRegex(InputError, r"the program of forward\(\) is wrong"):
            self.export(source)


if __name__ == "__main__":
    absltest.main()
