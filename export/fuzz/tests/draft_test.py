"""Tests of modules that specs describe."""

from __future__ import annotations

import dataclasses
from typing import Any
from unittest import mock

import hypothesis
import torch
from absl.testing import absltest
from hypothesis.internal.conjecture import engine

from export.fuzz import spec, specs
from export.fuzz.check import quiet
from export.fuzz.draft import KINDS, Draft, draft, steps_of
from export.fuzz.spec import Pick, Spec, Step
from export.fuzz.steps import (
    assignments,
    buffers,
    control_flow,
    formats,
    idioms,
    layers,
    orders,
    recurrent,
    selections,
    state,
    written_views,
)
from export.fuzz.writer import Writer

# The choices of dtypes float32, and of the first inputs: images, tokens, rows.
_INPUTS = ((0, 0, 1), (0, 1), (0, 3))


def _run(made: Draft) -> list[list[torch.Tensor]]:
    """Runs the model file of a module on all its samples. Returns the results of each."""
    file: dict[str, Any] = {}
    exec(compile(made.source(), "model.py", "exec"), file)
    model, _ = file["get_model"]()
    with torch.no_grad():
        return [[one.clone() for one in model(*sample)] for sample in file["get_sample_inputs"]()]


def _drawn(batches: int, count: int) -> list[Spec]:
    """Draws batches of specs, as the fuzzer does."""
    drawn: list[Spec] = []

    def keep(one: Spec) -> None:
        drawn.append(one)

    settings = hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=[*hypothesis.HealthCheck],
    )
    with specs.unmutated():
        for batch in range(batches):
            hypothesis.seed(batch)(settings(hypothesis.given(specs.SPECS)(keep)))()
    return drawn


class DraftTest(absltest.TestCase):
    def test_spec_as_text(self) -> None:
        one = Spec((1, 2), (Step("convolution", (3,)), Step("activation")), (4,))
        self.assertEqual(spec.parse(str(one)), one)

    def test_choices(self) -> None:
        pick = Pick((1, 5))
        self.assertEqual([pick("a", "b"), pick("a", "b", "c"), pick("a", "b")], ["b", "c", "a"])

    def test_plainest_choices(self) -> None:
        made = draft(Spec(steps=(Step("convolution"), Step("activation"))))
        (layer,) = made.init
        self.assertStartsWith(layer, "self.layer0 = nn.Conv2d(8, 8, 3, stride=1, padding=0")
        self.assertEqual(made.forward, ("y0 = self.layer0(x0)", "y1 = torch.relu(y0)"))
        self.assertEqual(made.gives, ("y1",))

    def test_all_lines_are_needed(self) -> None:
        made = draft(Spec(steps=(Step("activation"), Step("embedding"), Step("activation"))))
        self.assertEqual(made.gives, ("y2", "y0"))

    def test_every_kind_fits_somewhere(self) -> None:
        for kind in KINDS.keys() - {"earlier"}:
            before = (Step("embedding" if kind == "tied_linear" else "linear"),)
            # Images, and tokens.
            added = [
                len(draft(Spec((0, sizes), (*before, Step(kind)))).forward)
                - len(draft(Spec((0, sizes), before)).forward)
                for sizes in (0, 1)
            ]
            self.assertNotEqual(added, [0, 0], f"{kind} adds nothing to any module")

    def test_steps_that_do_not_fit_leave_nothing(self) -> None:
        step = Step("pad_and_convolve")  # The input has no dimensions.
        self.assertEqual(draft(Spec((0, 16), (step,))).init, ())
        self.assertEqual(draft(Spec((0, 16), (step,))).inputs, draft(Spec((0, 16))).inputs)

    def test_unshuffles_no_empty_tensor(self) -> None:
        empty = (0, 14)
        self.assertEqual(draft(Spec(empty)).inputs[0].sizes, (0, 8, 6, 6))
        self.assertEqual(draft(Spec(empty, (Step("shuffle", (0,)),))).forward, ("y0 = F.pixel_shuffle(x0, 2)",))
        self.assertEqual(draft(Spec(empty, (Step("shuffle", (1,)),))).forward, ())

    def test_model_files_are_python(self) -> None:
        for number in range(5):
            steps = tuple(Step(kind, tuple(range(number, number + 9))) for kind in KINDS)
            made = draft(Spec((number, number + 3), steps, (number,) * 9))
            module = compile(made.source(), "model.py", "exec")
            self.assertContainsSubset(["Model", "get_model"], module.co_names)

    def test_every_kind_runs_on_all_samples(self) -> None:
        for module in (
            formats,
            buffers,
            written_views,
            state,
            control_flow,
            recurrent,
            idioms,
            assignments,
            orders,
            layers,
            selections,
        ):
            sized = 1 if module is selections else 0  # The first dimension that no value decides.
            for index, kind in enumerate(steps_of(module)):
                is_there = False
                for number, inputs in enumerate(_INPUTS):
                    made = draft(Spec(inputs, (Step(kind, tuple(range(number + index, number + index + 9))),)))
                    if not made.kinds:
                        continue
                    is_there = True
                    results = _run(made)
                    self.assertLen(results, 3 if "register_buffer" in made.source() else 2, kind)
                    for result in results:
                        shapes, expected = ([one.shape[sized:] for one in each] for each in (result, results[0]))
                        self.assertEqual(shapes, expected, kind)
                self.assertTrue(is_there, f"{kind} fits nowhere")

    def test_draws_contain_every_kind(self) -> None:
        with quiet():
            kept = {kind for one in _drawn(3, 100) for kind in draft(one).kinds}
        self.assertEqual(kept, KINDS.keys())

    def test_hypothesis_without_the_function_that_changes_specs(self) -> None:
        with mock.patch.object(engine, "ConjectureRunner", object), specs.unmutated() as patched:
            self.assertIsNone(patched)

    def test_draws_contain_layouts(self) -> None:
        with quiet():
            made = [draft(one) for one in _drawn(8, 10)]
        layouts = {given.layout for one in made for given in one.inputs}
        self.assertEqual(layouts, {"", "channels_last", "permuted", "strided", "expanded", "transposed"})
        self.assertEqual({one.is_channels_last for one in made}, {False, True})

    def test_layouts_of_example_and_samples(self) -> None:
        for number, kind in enumerate(("", "channels_last", "channels_last", "", "channels_last", "permuted")):
            made = draft(Spec((0, 0, number), (Step("activation"),)))
            file: dict[str, Any] = {}
            exec(compile(made.source([[(3, 4, 5, 6)]]), "model.py", "exec"), file)
            _, example = file["get_model"]()
            given = [example, *file["get_sample_inputs"]()]
            self.assertEqual([tuple(one.shape) for (one,) in given], [(2, 8, 8, 8)] * 3 + [(3, 4, 5, 6)])
            for (one,) in given:
                is_last = one.is_contiguous(memory_format=torch.channels_last)
                self.assertEqual((one.is_contiguous(), is_last), (kind == "", kind == "channels_last"), kind)

    def test_inputs_without_the_layout(self) -> None:
        made = draft(Spec((0, 1, 1)))
        self.assertEqual([one.layout for one in made.inputs], [""])
        made = draft(Spec((0, 14, 5)))
        self.assertEqual([one.layout for one in made.inputs], [""])

    def test_channels_last_weights(self) -> None:
        made = draft(Spec((0, 0, 0, 1), (Step("convolution"), Step("cache"))))
        file: dict[str, Any] = {}
        exec(compile(made.source(), "model.py", "exec"), file)
        model, _ = file["get_model"]()
        for tensor in (model.layer0.weight, model.cache0):
            self.assertTrue(tensor.is_contiguous(memory_format=torch.channels_last))
        # PyTorch converts no module with weights of 5 dimensions.
        self.assertFalse(draft(Spec((0, 8, 0, 1), (Step("convolution"),))).is_channels_last)

    def test_control_flow_is_that_of_pytorch(self) -> None:
        writer = Writer(torch.float32)
        writer.input("floats", 4, 3)
        double = writer.function("v", "return v * 2")
        negative = writer.function("v", "return -v")
        add = writer.function("c, v", "c = c + v", "return c, c * 2")
        writer.value(f"cond(x0.sum() > 0, {double}, {negative}, (x0,))")
        writer.value(f"map_rows({double}, x0)")
        for reverse in (False, True):
            writer.pair(f"scan({add}, torch.zeros(3), x0, dim=0, reverse={reverse})")
        made = draft(Spec((0, 3)))
        made = dataclasses.replace(
            made, forward=tuple(writer.forward), gives=tuple(writer.values)[1:], inputs=tuple(writer.inputs)
        )
        file: dict[str, Any] = {}
        exec(compile(made.source(), "model.py", "exec"), file)
        model, _ = file["get_model"]()
        for name, one in zip(made.gives, model(writer.values["x0"]), strict=True):
            torch.testing.assert_close(one, writer.values[name])

    def test_branches_that_differ(self) -> None:
        writer = Writer(torch.float32)
        writer.input("floats", 4, 3)
        branches = writer.function("v", "return v * 2"), writer.function("v", "return v[0]")
        with self.assertRaisesRegex(ValueError, "the branches differ"):
            writer.value(f"cond(x0.sum() > 0, {', '.join(branches)}, (x0,))")

    def test_carries_that_differ(self) -> None:
        writer = Writer(torch.float32)
        writer.input("floats", 4, 3)
        function = writer.function("c, v", "return (c + v)[:1], v")
        with self.assertRaisesRegex(ValueError, "the carries differ"):
            writer.pair(f"scan({function}, torch.zeros(3), x0, dim=0)")

    def test_quantizes_no_control_flow(self) -> None:
        results = (0, 0, 0, 0, 4)
        self.assertIsNotNone(draft(Spec((), (Step("linear"),), results)).quantization)
        self.assertIsNone(draft(Spec((), (Step("linear"), Step("one_condition")), results)).quantization)

    def test_steps_on_images_take_an_earlier_value_or_a_new_input(self) -> None:
        flat = Step("view", (0, 5))
        made = draft(Spec((0, 0), (flat, Step("squeeze_and_excitation"))))
        self.assertLen(made.inputs, 1)
        self.assertIn("y0", made.gives)
        self.assertEqual([one.sizes for one in draft(Spec((0, 3), (Step("pyramid"),))).inputs], [(3, 16), (2, 8, 8, 8)])


if __name__ == "__main__":
    absltest.main()
