"""Tests of recorded samples: their state, and state in plain attributes, which is refused if it makes a difference."""

from __future__ import annotations

import contextlib
import dataclasses
import linecache
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from absl.testing import absltest
from executorch.exir import to_edge
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

from diagnostics.errors import InputError
from diagnostics.golden import case
from export.exporter import export
from export.user import attributes, model_file, samples
from export.user.inputs import Inputs
from export.user.source import Source

_ONE, _TWO = "[(torch.tensor([1., 2.]),)]", "[(torch.tensor([1., 2.]),), (torch.tensor([3., 5.]),)]"


def _file(init: str, forward: str, given: str = _ONE, before: str = "", after: str = "") -> str:
    """A model file. forward() begins at line 3 after the lines of `before` and `init`."""
    return (
        "import collections, random, torch\n"
        + textwrap.dedent(before).lstrip()
        + "class Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + textwrap.indent(textwrap.dedent(init).strip(), " " * 8)
        + "\n    def forward(self, x):\n"
        + textwrap.indent(textwrap.dedent(forward).strip(), " " * 8)
        + f"\ndef get_model(): return Model(), {given}[0]\ndef get_sample_inputs(): return {given}\n"
        + textwrap.dedent(after)
    )


class _Files(case.TestCase):
    def methods(self, source: str) -> Sequence[model_file.Method]:
        linecache.clearcache()  # Several model files of one test have the same path.
        self.model = self.directory / "model.py"
        self.model.write_text(source)
        return model_file.load(self.model, "get_model", (), rule="executorch_program").methods

    def record(self, source: str) -> samples.Recorded:
        (method,) = self.methods(source)
        return samples.record(method)

    def outputs(self, recorded: samples.Recorded) -> list[list[float]]:
        return [samples.tensor(value).tolist() for one in recorded.samples for value in one.outputs if value]


class TensorTest(absltest.TestCase):
    def test_values(self) -> None:
        class Same(torch.nn.Module):
            def forward(self, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
                return given

        given = (
            torch.arange(6.0).view(2, 3),
            torch.arange(48, dtype=torch.half).view(2, 3, 4, 2).to(memory_format=torch.channels_last),
            torch.tensor(3),
            torch.zeros(0, 2, dtype=torch.bfloat16),
            torch.tensor([True, False]),
            torch.arange(3.0).expand(2, 3),
        )
        source = Source(Path(__file__), kind="model", rule="executorch_program")
        inputs = Inputs(given)
        method = model_file.Method("forward", Same(), None, inputs, None, (inputs,), source, source.location())
        (sample,) = samples.record(method).samples
        for value, expected in zip(sample.outputs, given, strict=True):
            assert value is not None
            actual = samples.tensor(value)
            self.assertEqual(actual.dtype, expected.dtype)
            torch.testing.assert_close(actual, expected, rtol=0, atol=0)
            if expected.stride()[:1] != (0,):  # An expanded tensor becomes dense.
                self.assertEqual(actual.stride(), expected.stride())


class QuantizedTest(_Files):
    """Weights that torchao's quantize_() has quantized: the runner says against what it compares."""

    def test_key(self) -> None:
        for quantize, expected in (("", False), ("quantize_(self.layer, Int8WeightOnlyConfig())", True)):
            with self.subTest(quantize):
                before = "from torchao.quantization import Int8WeightOnlyConfig, quantize_\n"
                init = f"self.layer = torch.nn.Linear(2, 32)\n{quantize}"
                recorded = self.record(_file(init, "return self.layer(x)", _TWO, before=before))
                self.assertEqual([one.quantized for one in recorded.samples], [expected] * 2)
                ptd = FlatTensorSerializer().deserialize(samples.serialize({"forward": recorded.samples}))
                keys = [key for key in ptd.named_data if "quantized" in key]
                self.assertCountEqual(keys, ["forward/0/quantized", "forward/1/quantized"] if expected else [])


class StateTest(_Files):
    """The state of samples."""

    def test_buffers_that_runs_change(self) -> None:
        source = _file(
            """
            self.register_buffer("total", torch.zeros(2))
            self.register_buffer("last", torch.full((2,), 7.))
            self.register_buffer("late", torch.zeros(1), persistent=False)
            self.register_buffer("constant", torch.ones(3))
            self.inner = torch.nn.Module()
            self.inner.register_buffer("count", torch.tensor(4))
            """,
            """
            self.total.add_(x)
            self.last = x.clone()
            self.inner.count += 1
            if x.sum() > 4:
                self.late.copy_(x[:1])
            return self.total * self.constant[0]
            """,
            _TWO,
        )
        (method,) = self.methods(source)
        recorded = samples.record(method)
        states = [{name: samples.tensor(one).tolist() for name, one in s.state.items()} for s in recorded.samples]
        first = {"total": [1, 2], "last": [1, 2], "inner.count": 5}
        self.assertEqual(states, [first, {"total": [4, 7], "last": [3, 5], "inner.count": 6, "late": [3]}])
        # The copy has the state after the last sample, and the module its initial state.
        self.assertEqual({name: one.tolist() for name, one in recorded.module.named_buffers()}["total"], [4, 7])
        self.assertEqual({name: one.tolist() for name, one in method.module.named_buffers()}["total"], [0, 0])

    def test_buffer_that_only_an_earlier_run_changed(self) -> None:
        source = _file(
            'self.register_buffer("kept", torch.zeros(2))',
            """
            if x[0] == 1:
                self.kept.copy_(x)
            return self.kept + x
            """,
            _TWO,
        )
        states = [samples.tensor(sample.state["kept"]).tolist() for sample in self.record(source).samples]
        self.assertEqual(states, [[1, 2], [1, 2]])

    def test_buffer_that_cannot_be_stored(self) -> None:
        source = _file(
            'self.register_buffer("kept", torch.zeros(2, dtype=torch.cfloat))',
            "self.kept += x\nreturn self.kept.real.clone()",
            _TWO,
        )
        recorded = self.record(source)
        self.assertEqual([dict(sample.state) for sample in recorded.samples], [{}, {}])
        self.assertEqual(self.outputs(recorded), [[1, 2], [4, 7]])

    def test_random_numbers_go_on(self) -> None:
        # The second run of the module leaves the generator as it was.
        source = _file("self.calls = 0", "self.calls += 1\nreturn x + torch.rand(2)", _TWO)
        (method,) = self.methods(source)
        torch.manual_seed(3)
        recorded = samples.record(method)
        torch.manual_seed(3)
        expected = [torch.tensor(given) + torch.rand(2) for given in ([1.0, 2.0], [3.0, 5.0])]
        self.assertEqual(self.outputs(recorded), [one.tolist() for one in expected])

    def test_module_after_a_single_sample(self) -> None:
        source = _file(
            'self.register_buffer("total", torch.zeros(2))\nself.last = None',
            "self.total += x\nself.last = x\nreturn x * 2",
        )
        module = self.record(source).module
        self.assertEqual(module.get_buffer("total").tolist(), [1, 2])
        self.assertEqual(vars(module)["last"].tolist(), [1, 2])


class RefusedTest(_Files):
    """State in plain attributes."""

    def assert_state(self, source: str, *lines: int) -> None:
        methods = self.methods(source)
        expected = [f"state-outside-buffers model.py:{line}:1" for line in lines]
        self.assert_refused(lambda: [samples.record(method) for method in methods], *expected)

    def test_tensor(self) -> None:
        for given in (_ONE, _TWO):
            with self.subTest(given):
                self.assert_state(
                    _file("self.total = torch.zeros(2)", "self.total = self.total + x\nreturn self.total * 1", given), 7
                )

    def test_tensor_that_is_written_to(self) -> None:
        forward = "y = x * 2\nself.total.add_(y)\nreturn self.total * 1"
        self.assert_state(_file("self.total = torch.zeros(2)", forward), 8)

    def test_maximum(self) -> None:
        # A second run on the same input gives the same.
        self.assert_state(
            _file("self.peak = torch.zeros(2)", "self.peak = torch.maximum(self.peak, x)\nreturn self.peak + 0"), 7
        )

    def test_number(self) -> None:
        for given in (_ONE, _TWO):
            with self.subTest(given):
                self.assert_state(_file("self.count = 0", "self.count += 1\nreturn x * self.count", given), 7)

    def test_flag(self) -> None:
        self.assert_state(_file("self.flip = False", "self.flip = not self.flip\nreturn x if self.flip else -x"), 7)

    def test_no_value_at_first(self) -> None:
        forward = "y = x if self.prev is None else x + self.prev\nself.prev = x\nreturn y"
        self.assert_state(_file("self.prev = None", forward, _TWO), 8)
        self.assert_state(_file('self.register_buffer("prev", None)', forward, _TWO), 8)

    def test_attribute_of_forward_only(self) -> None:
        forward = "y = x + getattr(self, 'prev', 0)\nsetattr(self, 'prev', x)\nreturn y"
        self.assert_state(_file("pass", forward, _TWO), 8)

    def test_dict(self) -> None:
        self.assert_state(
            _file("self.cache = {}", 'self.cache["k"] = self.cache.get("k", 0) + x\nreturn self.cache["k"] * 1'), 7
        )

    def test_list(self) -> None:
        self.assert_state(_file("self.window = []", "self.window.append(x)\nreturn sum(self.window)", _TWO), 7)

    def test_queue_that_fills(self) -> None:
        # The first two runs are the same as without state.
        given = "[(torch.tensor([float(i), 2.]),) for i in range(3)]"
        forward = "self.window.append(x)\nreturn x if len(self.window) < 3 else self.window[0] + 0"
        self.assert_state(_file("self.window = collections.deque(maxlen=3)", forward, given), 7)

    def test_spikes(self) -> None:
        # No run has other outputs than without state.
        forward = """
        charged = self.potential + (x * 2 - self.potential) / 2
        spikes = (charged >= 99) * 1.0
        self.potential = charged * (1 - spikes)
        return spikes
        """
        for given in (_ONE, _TWO):
            self.assert_state(_file("self.potential = torch.zeros(2)", forward, given), 9)

    def test_object(self) -> None:
        before = """
        class Cache:
            __slots__ = ("seen",)
            def __init__(self): self.seen = 0
            def step(self, x):
                self.seen = self.seen + x
                return self.seen * 1
        """
        self.assert_state(_file("self.cache = Cache()", "return self.cache.step(x)", _TWO, before=before), 13)

    def test_module_in_a_list(self) -> None:
        # PyTorch registers no submodule of a list, and no buffers of the submodule.
        before = """
        class Sum(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("total", torch.zeros(2))
            def forward(self, x):
                self.total += x
                return self.total * 1
        """
        self.assert_state(_file("self.parts = [Sum()]", "y = self.parts[0](x)\nreturn y", _TWO, before=before), 14)

    def test_cycle(self) -> None:
        init = "self.cache = {'count': 0}\nself.cache['self'] = self.cache\nself.parent = (self,)"
        forward = "self.cache['count'] += 1\nreturn x * self.cache['self']['count']"
        self.assert_state(_file(init, forward), 9)

    def test_submodules_of_one_class(self) -> None:
        before = """
        class Sum(torch.nn.Module):
            total = 0
            @torch.no_grad()
            def forward(self, x):
                self.total = self.total + x
                return self.total * 1
        """
        init = "self.parts = torch.nn.Sequential(*[Sum() for _ in range(6)])"
        self.assert_state(_file(init, "return self.parts(x)", _TWO, before=before), 6)

    def test_attribute_of_a_submodule(self) -> None:
        init = "self.part = torch.nn.Identity()\nself.part.total = 0"
        self.assert_state(_file(init, "self.part.total = self.part.total + x\nreturn self.part.total * 1", _TWO), 8)

    def test_only_the_attributes_that_matter(self) -> None:
        init = "self.calls = 0\nself.last = None\nself.a = 0\nself.b = 0"
        forward = """
        self.calls += 1
        self.last = x
        self.a += 2
        self.b = self.b + x
        return x * self.a + self.b
        """
        self.assert_state(_file(init, forward, _TWO), 12, 13)

    def test_state_that_another_buffer_receives(self) -> None:
        # The outputs do not depend on the attribute.
        init = 'self.count = 0\nself.register_buffer("kept", torch.zeros(2))'
        self.assert_state(_file(init, "self.count += 1\nself.kept.fill_(self.count)\nreturn x + 1", _TWO), 8)

    def test_two_attributes_with_the_same_state(self) -> None:
        # Neither attribute alone makes a difference.
        init = "self.a = 0\nself.b = 0"
        self.assert_state(_file(init, "self.a += 1\nself.b += 1\nreturn x * max(self.a, self.b)", _TWO), 8, 9)

    def test_second_run_raises(self) -> None:
        forward = "self.calls += 1\nreturn x * [2, 3][self.calls - 1]"
        self.assert_state(_file("self.calls = 0", forward, _TWO), 7)

    def test_random_numbers(self) -> None:
        forward = "self.total = self.total + x\nreturn self.total + torch.rand(2)"
        for given in (_ONE, _TWO):
            with self.subTest(given):
                self.assert_state(_file("self.total = 0", forward, given), 7)

    def test_keyword_arguments_and_dicts(self) -> None:
        given = "[{'x': {'a': torch.ones(2)}}, {'x': {'a': torch.ones(2) * 3}}]"
        forward = "self.total = self.total + x['a']\nreturn {'sum': self.total * 1, 'other': x['a'] + 1}"
        self.assert_state(_file("self.total = 0", forward, given), 7)

    def test_methods(self) -> None:
        after = """
        class Second(Model):
            def forward(self, x): return super().forward(x) + 1
        def get_model(): return {"one": (torch.nn.Identity(), (torch.ones(2),)), "two": (Second(), (torch.ones(2),))}
        def get_sample_inputs(): return {"two": [(torch.ones(2),)] * 2}
        """
        self.assert_state(_file("self.total = 0", "self.total = self.total + x\nreturn self.total * 1", after=after), 7)

    def test_module_whose_code_is_not_the_users(self) -> None:
        package = self.directory / "site-packages"
        package.mkdir()
        (package / "part_of_samples_test.py").write_text(
            "import torch\nclass Part(torch.nn.Module):\n    total = 0\n    def forward(self, x):\n"
            "        self.total = self.total + x\n        return self.total * 1\n"
        )
        before = f"import sys\nsys.path.insert(0, {str(package)!r})\nfrom part_of_samples_test import Part\n"
        # The finding is at get_model(), and names the line of the package.
        self.assert_state(_file("self.part = Part()", "return self.part(x)", _TWO, before=before), 11)

    def test_no_source(self) -> None:
        before = """
        def step(self, x):
            vars(self)["total"] = self.total + x
            return self.total * 1
        """
        self.assert_state(_file("self.total = 0", "return step(self, x)", _TWO, before=before), 11)


class PassesTest(_Files):
    """Attributes that change and make no difference, and modules that are hard to copy."""

    def run_and_compare(self, source: str) -> list[list[float]]:
        """Exports a model; the program gives what eager gives. Returns the outputs."""
        linecache.clearcache()
        self.methods(source)
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            exported = export(self.model)
        program = _load_for_executorch_from_buffer(exported.pte)
        (method,) = self.methods(source)
        expected = []
        with torch.no_grad():
            for inputs in method.samples:
                given = [one.clone() for one in inputs.args]
                expected.append(method.module(*inputs.args))
                torch.testing.assert_close(program.run_method("forward", tuple(given))[0], expected[-1])
        return [one.tolist() for one in expected]

    def test_state_in_buffers(self) -> None:
        init = 'self.register_buffer("total", torch.zeros(2))\nself.register_buffer("count", torch.tensor(0))'
        forward = "self.total = self.total + x\nself.count += 1\nreturn self.total * self.count"
        self.assertEqual(self.run_and_compare(_file(init, forward, _TWO)), [[1, 2], [8, 14]])

    def test_last_output(self) -> None:
        for given in (_ONE, _TWO):
            source = _file("self.last = None", "self.last = x * 2\nreturn self.last + 1", given)
            self.assertEqual(self.run_and_compare(source), [[3, 5], [7, 11]][: len(self.record(source).samples)])

    def test_call_counter(self) -> None:
        source = _file("self.calls = 0\nself.log = []", "self.calls += 1\nself.log.append(1)\nreturn x * 2", _TWO)
        self.assertEqual(self.run_and_compare(source), [[2, 4], [6, 10]])

    def test_table_of_the_first_run(self) -> None:
        forward = """
        if self.table is None:
            self.table = torch.arange(2.) + 1
        return x * self.table
        """
        self.assertEqual(self.run_and_compare(_file("self.table = None", forward, _TWO)), [[1, 4], [3, 10]])

    def test_object_that_holds_a_buffer(self) -> None:
        before = """
        class Cache:
            def __init__(self, kept): self.kept, self.calls = kept, 0
        """
        init = 'self.register_buffer("kept", torch.zeros(2))\nself.cache = Cache(self.kept)\nself.row = self.kept[:1]'
        forward = "self.cache.calls += 1\nself.cache.kept.add_(x)\nreturn self.kept + self.row"
        source = _file(init, forward, _TWO, before=before)
        self.assertEqual(self.outputs(self.record(source)), [[2, 3], [8, 11]])

    def test_table_that_grows(self) -> None:
        forward = """
        n = 3 if x[0] > 2 else 2
        if len(self.table) < n:
            self.table = torch.arange(1., n + 1)
        self.mean = self.mean / 2 + x.mean()
        return x * self.table[:2]
        """
        given = "[(torch.tensor([3., 5.]),), (torch.tensor([1., 2.]),)]"
        recorded = self.record(_file("self.table = torch.ones(0)\nself.mean = torch.zeros(())", forward, given))
        self.assertEqual(self.outputs(recorded), [[3, 10], [1, 4]])

    def test_attributes_of_other_kinds(self) -> None:
        # No output depends on these, and PyTorch cannot compare or fill some of them.
        init = "self.kept, self.sparse = torch.zeros(1).expand(2), torch.zeros(2, 2)"
        forward = """
        self.kept = (self.kept + x).sum().expand(2)
        self.sparse = (self.sparse.to_dense() + x).to_sparse()
        return x * 2
        """
        self.assertEqual(self.outputs(self.record(_file(init, forward, _TWO))), [[2, 4], [6, 10]])

    def test_not_deterministic(self) -> None:
        forward = "self.total = self.total + x\nreturn self.total + random.random()"
        self.assertEqual(len(self.record(_file("self.total = 0", forward, _TWO)).samples), 2)

    def test_object_that_cannot_be_copied_after_a_run(self) -> None:
        for given in (_ONE, _TWO):
            source = _file("self.made = None", "self.made = (one for one in [x])\nreturn x * 2", given)
            self.assertEqual(self.outputs(self.record(source)), [[2, 4], [6, 10]][: 1 if given == _ONE else 2])

    def test_parameter_that_is_written_to(self) -> None:
        # The module of the model file stays as it was.
        init = "self.w = torch.nn.Parameter(torch.ones(2))\nself.calls = 0"
        for given in (_ONE, _TWO):
            source = _file(init, "self.calls += 1\nself.w.mul_(2)\nreturn x * self.w", given)
            recorded = self.record(source)
            self.assertEqual(self.outputs(recorded), [[2, 4], [12, 20]][: len(recorded.samples)])
            self.assertEqual(recorded.module.get_parameter("w").tolist(), [2.0 ** len(recorded.samples)] * 2)
            self.assertEqual(self.methods(source)[0].module.get_parameter("w").tolist(), [1.0, 1.0])

    def test_exported_program(self) -> None:
        after = "def get_model(): return torch.export.export(Model(), (torch.ones(2),))"
        source = _file("self.calls = 0", "self.calls += 1\nreturn x * 2", _TWO, after=after)
        self.assertEqual(self.outputs(self.record(source)), [[2, 4], [6, 10]])

    def test_graph_with_fake_tensors_that_autograd_computed(self) -> None:
        (method,) = self.methods(_file("self.w = torch.nn.Parameter(torch.ones(2) * 2)", "return x * self.w", _TWO))
        exported = torch.export.export(method.module, method.samples[0].args)
        graph = to_edge(exported).exported_program().module()
        recorded = samples.record(dataclasses.replace(method, module=graph))
        self.assertEqual(self.outputs(recorded), [[2, 4], [6, 10]])

    def test_weight_that_autograd_computed(self) -> None:
        init = "self.w = torch.nn.Parameter(torch.ones(2))\nself.scale = torch.exp(self.w)\nself.part = self.scale[:1]"
        self.assertEqual(
            self.run_and_compare(_file(init, "return x * self.scale + self.part", _TWO)),
            [((torch.tensor(one) + 1) * torch.ones(2).exp()).tolist() for one in ([1, 2], [3, 5])],
        )

    def test_output_that_autograd_computed(self) -> None:
        after = "def get_model():\n    model = Model()\n    model(torch.ones(2))\n    return model, (torch.ones(2),)\n"
        init = "self.w = torch.nn.Parameter(torch.ones(2))\nself.last = None"
        source = _file(init, "self.last = [x * self.w]\nreturn self.last[0] + 1", _TWO, after=after)
        self.assertEqual(self.run_and_compare(source), [[2, 3], [4, 6]])

    def test_utilities_of_pytorch(self) -> None:
        for made in (
            "torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))",
            "torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 3))",
            "torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3))",
            "torch.nn.utils.prune.l1_unstructured(torch.nn.Linear(2, 3), 'weight', 2)",
        ):
            with self.subTest(made):
                before = "import warnings\nwarnings.simplefilter('ignore')\nimport torch.nn.utils.prune\n"
                init = f"self.layer = {made}"
                self.run_and_compare(_file(init, "return self.layer(x)", _TWO, before=before))

    def test_last_output_of_a_hook(self) -> None:
        before = """
        class Hook:
            last = None
            def __call__(self, module, given, output): self.last = output
        """
        after = "def get_model():\n    model = Model()\n    model(torch.ones(2))\n    return model, (torch.ones(2),)\n"
        init = "self.layer = torch.nn.Linear(2, 3)\nself.layer.register_forward_hook(Hook())"
        self.run_and_compare(_file(init, "return self.layer(x)", _TWO, before=before, after=after))

    def test_functions_that_see_the_module(self) -> None:
        init = """
        self.register_buffer("total", torch.zeros(2))
        self.layer, self.seen = torch.nn.Linear(2, 3), {}
        seen, again = self.seen, lambda x, n: again(x + self.total, n - 1) if n else scale(x)
        def keep(name, *, factor=2):
            def hook(module, given, output):
                seen[name] = output * factor
                self.total += given[0]
            return hook
        scale = self.scaled
        self.layer.register_forward_hook(keep("layer"))
        self.calls = [lambda x: again(x, 2)]
        """
        forward = "y = self.layer(x)\nreturn torch.cat([y, self.seen['layer'], self.calls[0](x)])"
        after = "def scaled(self, x): return x * self.total\nModel.scaled = scaled\n"
        self.run_and_compare(_file(init, forward, _TWO, after=after))

    def test_functions_of_a_copy(self) -> None:
        class Part(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                count = 0

                def step(x: torch.Tensor, by: int = 1, *, times: int = 2) -> torch.Tensor:
                    nonlocal count
                    count += by * times
                    return x * count + self.offset

                self.step, self.also, self.twice = step, step, lambda x: x * 2
                self.offset = torch.nn.Buffer(torch.zeros(1))

        part: Any = Part()
        copy: Any = attributes.copied(part)
        copy.offset.fill_(5)
        self.assertEqual(copy.step(torch.ones(1)).item(), 7)
        # The copies share what is no part of the module.
        self.assertEqual(part.step(torch.ones(1)).item(), 4)
        self.assertIs(copy.step, copy.also)
        self.assertIs(copy.twice, part.twice)
        self.assertEqual(copy.step.__qualname__, part.step.__qualname__)

    def test_objects_that_copies_share(self) -> None:
        init = """
        self.part = torch.nn.Identity()
        self.part.made = {"double": staticmethod(lambda x: x * 2), "math": math, "lock": threading.RLock()}
        self.part.made["half"] = torch.jit.trace(lambda x: x / 2, torch.ones(2))
        """
        forward = """
        with self.part.made["lock"]:
            x = self.part.made["half"](x)
            return self.part.made["double"](x) + self.part.made["math"].floor(1.5)
        """
        self.run_and_compare(_file(init, forward, _TWO, before="import math, threading\n"))

    def test_weight_that_autograd_computed_behind_many_objects(self) -> None:
        init = """
        self.w = torch.nn.Parameter(torch.ones(2))
        self.kept = {str(i): i for i in range(30_000)}
        self.kept["scale"] = [self.w + 1]
        self.kept["row"] = self.kept["scale"][0][:1]
        """
        source = _file(init, 'return x * self.kept["scale"][0] + self.kept["row"]', _TWO)
        self.assertEqual(self.run_and_compare(source), [[4, 6], [8, 12]])
        kept = vars(attributes.copied(self.methods(source)[0].module))["kept"]
        self.assertEqual(kept["scale"][0].data_ptr(), kept["row"].data_ptr())

    def test_attribute_of_a_parameter(self) -> None:
        init = "self.w = torch.nn.Parameter(torch.ones(2))\nself.w.scale = self.w + 2"
        self.assertEqual(self.outputs(self.record(_file(init, "return x * self.w.scale"))), [[3, 6]])

    def test_copies_share_memory_as_the_module_does(self) -> None:
        init = "self.w = torch.nn.Parameter(torch.ones(2))\nself.scale = torch.exp(self.w)\nself.part = self.scale[:1]"
        (method,) = self.methods(_file(init, "return x"))
        copy = attributes.copied(method.module)
        self.assertTrue(torch._C._is_cow_tensor(copy.get_parameter("w")))  # type: ignore[attr-defined]
        attributes.share_parameters(copy, method.module)
        self.assertEqual(copy.get_parameter("w").data_ptr(), method.module.get_parameter("w").data_ptr())
        scale, part = (vars(copy)[name].data_ptr() for name in ("scale", "part"))
        self.assertNotEqual(scale, vars(method.module)["scale"].data_ptr())
        self.assertEqual(part, scale)


class NotCopiedTest(_Files):
    """Modules that cannot be copied. Words of the messages are Python's, and differ between versions."""

    def assert_not_copied(self, init: str, what: str, cause: str, fix: str, before: str = "") -> None:
        methods = self.methods(_file(init, "return x * 2", before=before))
        with self.assertRaises(InputError) as raised:
            samples.record(methods[0])
        (finding,) = raised.exception.findings
        self.assertIn(f"copying {what} of forward() raised ", finding.found)
        self.assertIn(cause, finding.cause)
        self.assertIn(fix, finding.fix)

    def test_objects_that_python_cannot_copy(self) -> None:
        for made in ("open('/dev/null')", "(one for one in [1])", "{'a': [open('/dev/null')]}"):
            with self.subTest(made):
                self.assert_not_copied(
                    f"self.part = torch.nn.Identity()\nself.part.made = {made}",
                    "self.part.made of the module",
                    "self.part.made has an object that Python cannot copy",
                    "create the object in forward()",
                )

    def test_class_whose_copies_raise(self) -> None:
        before = """
        class Kept:
            def __deepcopy__(self, memo): raise {}
        """
        for error, cause, fix in (
            ("ValueError('no copies')", "its own way to make copies", "give this class a __deepcopy__"),
            ("MemoryError", "the memory does not suffice", "make parameters of large buffers"),
        ):
            with self.subTest(error):
                self.assert_not_copied(
                    "self.kept = Kept()", "self.kept of the module", cause, fix, before=before.format(error)
                )

    def test_submodule_whose_copies_raise(self) -> None:
        before = """
        class Part(torch.nn.Module):
            def __deepcopy__(self, memo): raise ValueError("no copies")
        """
        self.assert_not_copied(
            "self.part = Part()", "the module", "its own way to make copies", "give this class a", before=before
        )

    def test_deep_nesting(self) -> None:
        self.assert_not_copied(
            "self.last = None\nfor _ in range(3000):\n    self.last = [self.last]",
            "self.last of the module",
            "self.last nests objects too deeply",
            "keep the objects in one list",
        )


if __name__ == "__main__":
    absltest.main()
