from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping, Sequence
from unittest import mock

from absl.testing import absltest

from codegen.model import prim_ops
from codegen.tests import case, programs
from codegen.tests.programs import Call, Free, JumpIfFalse, Method, Move, Result, Tensor

_FLOAT, _LONG, _COMPLEX, _BOOL, _QINT8 = 6, 4, 9, 11, 12
_SCHEMAS = (
    "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    "aten::cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)",
    "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    "aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    "my_ops::numbers.out(Tensor self, int a, float b, Scalar c, bool d, ScalarType? e, *, Tensor(a!) out) "
    "-> Tensor(a!)",
    "my_ops::lists.out(Tensor?[] a, int[]? b, float[] c, bool[] d, int[] e, *, Tensor(a!) out) -> Tensor(a!)",
    "my_ops::names.out(Tensor context, Tensor class, Tensor[] x, Tensor x0, Tensor memories_, Tensor tensor3, *, "
    "Tensor(a!) FixedTensor) -> Tensor(a!)",
    "my_ops::device.out(Tensor self, Device? device, *, Tensor(a!) out) -> Tensor(a!)",
    "my_ops::new(Tensor self) -> Tensor",
    "my_ops::count(Tensor self) -> int",
    "my_ops::text.out(Tensor self, str mode, str? other, *, Tensor(a!) out) -> Tensor(a!)",
)
_ET_VIEW = "executorch_prim::et_view.default"
_KINDS = ("header", "source", "c_header", "c_source", "constants", "memory")


def _planned(offset: int, memory: int = 1, size: int = 4, content: bytes | None = None) -> Tensor:
    """A tensor of float32 in planned memory."""
    return Tensor(_FLOAT, (0,), (size,), content, place=(memory, offset))


def _constant(*values: float) -> Tensor:
    return Tensor(_FLOAT, (0,), (len(values),), struct.pack(f"<{len(values)}f", *values))


def _relu(x: Tensor, out: Tensor) -> Call:
    return Call("aten::relu.out", (x, out, out))


def _of_caller(dtype: int = _FLOAT) -> Tensor:
    """A tensor without memory."""
    return Tensor(dtype, (0,), (4,))


def _copy(target: Tensor, source: Tensor) -> Call:
    return Call("aten::copy_", (target, source, False, target))


def _relu_method(x: Tensor, out: Tensor) -> Method:
    return Method([_relu(x, out)], (x,), (out,), memory=(64,))


_Methods = Mapping[str, Sequence[Sequence[programs.Instruction]] | Method]


class TestCase(case.TestCase):
    def compile(
        self,
        methods: _Methods,
        *flags: str,
        kernel: Mapping[str, object] = {},
        backends: Sequence[str] = (),
    ) -> None:
        """Compiles a program of methods.

        Args:
            methods: the methods.
            flags: further flags.
            kernel: what the kernels have besides a function.
            backends: the backends of the program.
        """
        operators = [
            {
                "schema": schema,
                "location": ["a.yaml", 1, 1],
                "kernels": [{"function": "my::native::f", "keys": ["default"], "location": ["a.yaml", 1, 1], **kernel}],
            }
            for schema in _SCHEMAS
        ]
        manifest = {"label": "//ops:lib", "yaml_names": ["a.yaml"], "operators": operators}
        self.run_command(
            "compile",
            "--label=//app:model",
            "--program=" + self.write("model.pte", programs.build(methods, backends=backends)),
            "--program_name=//app:model.pte",
            "--manifest=" + self.write("registered.json", json.dumps(manifest)),
            "--native_functions=ops/lib/NativeFunctions.h",
            "--cpp_namespace=model",
            "--include=app/model.h",
            *(f"--{kind}={self.directory}/model.{kind}" for kind in _KINDS),
            *flags,
        )

    def text(self, kind: str) -> str:
        """What was written: `header`, `c_source`, ..."""
        return (self.directory / f"model.{kind}").read_text()

    def source(self, method: Method) -> str:
        """The source of a method."""
        self.compile({"forward": method})
        return self.text("source")

    def header(self, method: Method) -> str:
        """The header of a method."""
        self.compile({"forward": method})
        return self.text("header")


class UncompilableTest(TestCase):
    def _assert_uncompilable(self, method: Method, **options: object) -> None:
        self.assert_refused(
            lambda: self.compile({"forward": method}, **options),  # type: ignore[arg-type]
            "uncompilable-program //app:model",
        )

    def test_backends(self) -> None:
        self._assert_uncompilable(
            _relu_method(_planned(0), _planned(16)), backends=["XnnpackBackend", "CoreMLBackend", "XnnpackBackend"]
        )

    def test_delegate_call(self) -> None:
        self._assert_uncompilable(Method(["delegate"]))

    def test_external_constant(self) -> None:
        self._assert_uncompilable(_relu_method(Tensor(_FLOAT, (0,), (4,), external="layer.weight"), _planned(0)))

    def test_outside_of_the_planned_memory(self) -> None:
        for place in ((1, 52), (2, 0), (0, 0)):
            with self.subTest(place):
                self._assert_uncompilable(_relu_method(_planned(0), Tensor(_FLOAT, (0,), (4,), place=place)))

    def test_short_constant(self) -> None:
        self._assert_uncompilable(_relu_method(Tensor(_FLOAT, (0,), (5,), bytes(16)), _planned(0)))

    def test_dtype(self) -> None:
        for dtype in (_COMPLEX, _QINT8):
            with self.subTest(dtype):
                self._assert_uncompilable(_relu_method(_of_caller(dtype), _planned(0)))

    def test_no_memory(self) -> None:
        x, middle, out = _planned(0), _of_caller(), _planned(16)
        self._assert_uncompilable(Method([_relu(x, middle), _relu(middle, out)], (x,), (out,), memory=(64,)))

    def test_no_tensor(self) -> None:
        self._assert_uncompilable(Method([Call("aten::sym_numel", (7, Result()))]))

    def test_no_number(self) -> None:
        self._assert_uncompilable(Method([Call("executorch_prim::add.Scalar", ("text", 1, Result()))]))

    def test_move_of_a_tensor_with_dynamic_sizes(self) -> None:
        dynamic = Tensor(_FLOAT, (0,), (4,), place=(1, 0), is_dynamic=True)
        result, target = _planned(0), _planned(16)
        call = Call("aten::relu.out", (_planned(32), dynamic, result))
        self._assert_uncompilable(Method([call, Move(result, target)], memory=(64,)))

    def test_namespace_that_is_a_word_of_cpp(self) -> None:
        out = _planned(16)
        method = Method([Call("aten::relu.out", (_planned(0), out, out))], memory=(64,))
        self.assert_refused(
            lambda: self.compile({"forward": method}, "--cpp_namespace=class"), "bad-cpp-namespace //app:model"
        )

    def test_dtype_that_the_library_leaves_out(self) -> None:
        content = {"label": "//ops:lib", "kernel_sources": ["op_relu.cpp"], "operators": {"aten::relu.out": ["Half"]}}
        dtypes = "--dtypes=" + self.write("dtypes.json", json.dumps(content))
        out = _planned(16)
        method = Method([Call("aten::relu.out", (_planned(0), out, out))], memory=(64,))
        self.assert_refused(lambda: self.compile({"forward": method}, dtypes), "dtype-not-selected //app:model.pte")

    def test_operator_of_another_library(self) -> None:
        self._assert_uncompilable(Method(["aten::mul.out"]))

    def test_new_tensor(self) -> None:
        self._assert_uncompilable(Method([Call("my_ops::new", (_planned(0), Result()))], memory=(64,)))

    def test_newer_operator_of_the_runtime(self) -> None:
        newer = "executorch_prim::newer.Scalar"
        with mock.patch.object(prim_ops, "PRIM_OPS", prim_ops.PRIM_OPS | {newer}):
            self._assert_uncompilable(Method([Call(newer, (1, 2, 3))]))

    def test_operator_of_the_runtime_with_other_arguments(self) -> None:
        for operator in ("executorch_prim::add.Scalar", "executorch_prim::sym_ite.Scalar", _ET_VIEW):
            with self.subTest(operator):
                self._assert_uncompilable(Method([Call(operator, (1, 2))]))

    def test_view_of_the_result_of_a_branch(self) -> None:
        x, moved, out = _planned(0), _of_caller(), _planned(0)
        view = Call(_ET_VIEW, (moved, programs.IntList((4,)), out))
        self._assert_uncompilable(Method([Move(x, moved), view], (x,), (out,), memory=(64,)))

    def test_view_in_another_place(self) -> None:
        x, out = _planned(0), _planned(16)
        view = Call(_ET_VIEW, (x, programs.IntList((4,)), out))
        self._assert_uncompilable(Method([view], (x,), (out,), memory=(64,)))

    def test_kernel_for_other_dtypes(self) -> None:
        self._assert_uncompilable(
            _relu_method(_planned(0), _planned(16)), kernel={"keys": ["v1/7;0|7;0|7;0", "v1/4;0|4;0|4;0"]}
        )

    def test_kernel_of_pytorch(self) -> None:
        self._assert_uncompilable(_relu_method(_planned(0), _planned(16)), kernel={"is_aten": True})

    def test_size_of_a_missing_dimension(self) -> None:
        for dimension in (1, -2):
            with self.subTest(dimension):
                self._assert_uncompilable(
                    Method([Call("aten::sym_size.int", (_planned(0), dimension, Result()))], memory=(64,))
                )

    def test_limits_of_tensors(self) -> None:
        out = _planned(0)
        self.compile({"forward": _relu_method(Tensor(_FLOAT, (0, 1), (1, 2**31 - 1)), out)})
        memories = [_of_caller() for _ in range(255)]
        for name, method in {
            "strides": _relu_method(Tensor(_FLOAT, (0, 1, 2), (1, 2, 2**30)), out),
            "offset": Method([_relu(_planned(2**32), out)], outputs=(out,), memory=(2**33,)),
            "memories": Method([_relu(memories[-1], out)], tuple(memories), (out,), memory=(64,)),
        }.items():
            with self.subTest(name):
                self._assert_uncompilable(method)

    def test_list_as_an_input(self) -> None:
        self._assert_uncompilable(Method([], (programs.IntList((1,)),)))

    def test_no_samples(self) -> None:
        self._assert_samples_refused({})

    def test_samples_of_another_program(self) -> None:
        good = _constant(1, 2, 3, 4)
        for name, sample in {
            "size": _constant(1, 2, 3),
            "rank": Tensor(_FLOAT, (0, 1), (2, 2), bytes(16)),
            "dtype": Tensor(3, (0,), (4,), bytes(16)),
            "unknown dtype": Tensor(_COMPLEX, (0,), (4,), bytes(32)),
            "short content": Tensor(_FLOAT, (0,), (4,), bytes(12)),
        }.items():
            with self.subTest(name):
                self._assert_samples_refused({"forward/0/input/0": good, "forward/0/output/0": sample})

    def _assert_samples_refused(self, samples: Mapping[str, Tensor]) -> None:
        path = self.write("samples.ptd", programs.tensor_data(samples))
        method = _relu_method(_planned(0), _planned(16))
        self.assert_refused(
            lambda: self.compile({"forward": method}, f"--samples={path}", f"--check={self.directory}/check.cpp"),
            "uncompilable-program //app:model",
        )

    def test_damaged_samples(self) -> None:
        flags = [f"--samples={self.write('samples.ptd', bytes(100))}", f"--check={self.directory}/check.cpp"]
        self.assert_refused(
            lambda: self.compile({"forward": _relu_method(_planned(0), _planned(16))}, *flags),
            "damaged-program samples.ptd",
        )

    def test_call_that_does_not_fit_the_schema(self) -> None:
        out = _planned(0)
        for name, values in {"kind": (5, out, out), "number": (out, out)}.items():
            with self.subTest(name):
                self.assert_refused(
                    lambda values=values: self.compile(  # type: ignore[misc]
                        {"forward": Method([Call("aten::relu.out", values)], memory=(64,))}
                    ),
                    "other-schema //app:model.pte",
                )


class CallsTest(TestCase):
    def test_numbers(self) -> None:
        x, out = _planned(0), _planned(16)
        for values, expected in {
            (2**63 - 1, 0.5, -(2**63), True, 6): "self, 9223372036854775807, 0.5, Scalar(INT64_MIN), true, "
            "std::optional<executorch::aten::ScalarType>(static_cast<executorch::aten::ScalarType>(6)), out",
            (-(2**63), float("-inf"), float("inf"), False, None): "self, INT64_MIN, "
            "-std::numeric_limits<double>::infinity(), Scalar(std::numeric_limits<double>::infinity()), false, "
            "std::nullopt, out",
            (-1, float("nan"), True, False, None): "self, -1, std::numeric_limits<double>::quiet_NaN(), Scalar(true), "
            "false, std::nullopt, out",
            (0, 5e-324, 1.7976931348623157e308, False, None): "self, 0, 5e-324, Scalar(1.7976931348623157e+308), "
            "false, std::nullopt, out",
        }.items():
            with self.subTest(values):
                text = self.source(Method([Call("my_ops::numbers.out", (x, *values, out, out))], (x,), (out,), (64,)))
                self.assertIn(f"f(context, {expected});", _joined(text))

    def test_device(self) -> None:
        x, out = _planned(0), _planned(16)
        text = self.source(Method([Call("my_ops::device.out", (x, 0, out, out))], (x,), (out,), (64,)))
        device = "executorch::aten::Device(static_cast<executorch::aten::DeviceType>(0), -1)"
        self.assertIn(f"f(context, self, std::optional<executorch::aten::Device>({device}), out);", _joined(text))

    def test_computed_numbers(self) -> None:
        x, out, count, total, half = _planned(0), _planned(16), 1000, 1001, 0.25
        text = self.source(
            Method(
                [
                    Call("my_ops::count", (x, count)),
                    Call("executorch_prim::add.Scalar", (count, -(2**63), total)),
                    Call("executorch_prim::truediv.Scalar", (total, 2, half)),
                    Call("my_ops::numbers.out", (x, total, half, half, False, None, out, out)),
                ],
                (x,),
                (out, total, half),
                (64,),
            )
        )
        for line in (
            "number1 = ::my::native::f(context, self);",
            "number3 = number1 + INT64_MIN;",
            "number5 = static_cast<double>(number3) / static_cast<double>(int64_t{2});",
            "f(context, self, number3, number5, Scalar(number5), false, std::nullopt, out);",
            "output1_ = number3;",
        ):
            self.assertIn(line, _joined(text))
        self.assertIn("  double output2() const { return output2_; }\n", self.text("header"))

    def test_computed_condition(self) -> None:
        """The value of a number that is computed says only the type."""
        text = self.source(Method([Call("executorch_prim::gt.Scalar", (3, 2, False)), JumpIfFalse(False, 2)]))
        self.assertIn("  number2 = int64_t{3} > int64_t{2};\n  if (!number2) goto instruction2;\n", text)

    def test_strings(self) -> None:
        x, out = _planned(0), _planned(16)
        text = self.source(Method([Call("my_ops::text.out", (x, 'a"\\??/\n\0é', None, out, out))], (x,), (out,), (64,)))
        self.assertIn(r'std::string_view("a\"\\?""?/\012\000é", 10), std::nullopt, out);', _joined(text))

    def test_lists(self) -> None:
        x, out = _planned(0), _planned(16)
        lists = (
            programs.OptionalTensorList((x, None)),
            None,
            programs.DoubleList((0.5, float("inf"))),
            programs.BoolList((True, False)),
            programs.IntList(()),
        )
        text = self.source(Method([Call("my_ops::lists.out", (*lists, out, out))], (x,), (out,), (64,)))
        for line in (
            "const std::optional<Tensor> a[] = {a0, std::nullopt};",
            "static constexpr double c[] = {0.5, std::numeric_limits<double>::infinity()};",
            "static constexpr bool d[] = {true, false};",
            "f(context, ArrayRef<std::optional<Tensor>>(a, 2), std::nullopt, ArrayRef<double>(c, 2), "
            "ArrayRef<bool>(d, 2), ArrayRef<int64_t>(), out);",
        ):
            self.assertIn(line, _joined(text))
        optional = (lists[0], programs.IntList((7, -(2**63))), *lists[2:])
        text = self.source(Method([Call("my_ops::lists.out", (*optional, out, out))], (x,), (out,), (64,)))
        self.assertIn("static constexpr int64_t b[] = {7, INT64_MIN};", text)
        self.assertIn("std::optional<ArrayRef<int64_t>>(ArrayRef<int64_t>(b, 2))", text)

    def test_names_that_are_used_otherwise(self) -> None:
        x, out = _planned(0), _planned(16)
        values = (x, x, programs.TensorList((x,)), x, x, x, out, out)
        text = self.source(Method([Call("my_ops::names.out", values)], (x,), (out,), (64,)))
        names = ("context_", "class_", "x0", "x0_", "memories__", "tensor3_", "FixedTensor_")
        for name in names:
            self.assertRegex(text, rf"    FixedTensor {name}\(kTensors\[[01]\], memories_\);\n")
        self.assertIn(
            "f(context, context_, class_, ArrayRef<Tensor>(x, 1), x0_, memories__, tensor3_, FixedTensor_);",
            _joined(text),
        )

    def test_branches_with_dynamic_sizes(self) -> None:
        """A move makes the result a view, also if only one of the branches has dynamic sizes."""
        dynamic = Tensor(_FLOAT, (0,), (4,), place=(1, 0), is_dynamic=True)
        target = _planned(32)
        source = self.source(Method([Move(_planned(16), target), Move(dynamic, target)], (), (target,), memory=(64,)))
        self.assertEqual(source.count("view(self, out)"), 2)
        self.assertNotIn("const TensorInfo* tensor", source)

    def test_branches(self) -> None:
        """The result of torch.cond is one of two tensors, and an output."""
        x, first, second, moved = _planned(0), _planned(16), _planned(32), _of_caller()
        condition = Tensor(_BOOL, (), (), b"\1")
        text = self.source(
            Method(
                [
                    JumpIfFalse(condition, 4),
                    _relu(x, first),
                    Move(first, moved),
                    JumpIfFalse(False, 6),
                    _relu(x, second),
                    Move(second, moved),
                    Free(x),
                ],
                (x,),
                (moved,),
                (64,),
            )
        )
        for part in (
            "  if (!is_true(FixedTensor(kTensors[0], memories_))) goto instruction4;\n",
            "  tensor3 = &kTensors[2];\n  goto instruction6;\ninstruction4:\n",
            "  tensor3 = &kTensors[3];\ninstruction6:\n  ;\n  output0_ = address(*tensor3, memories_);\n",
        ):
            self.assertIn(part, text)

    def test_kernel_for_the_dtypes(self) -> None:
        self.compile(
            {"forward": _relu_method(_planned(0), _planned(16))},
            kernel={"keys": ["v1/7;0|7;0|7;0", "v1/6;0|6;0|6;0"]},
        )
        self.assertIn("::my::native::f(context, self, out);", self.text("source"))


class InterfaceTest(TestCase):
    def test_names_of_classes(self) -> None:
        """Each class has a name of C++, which no other class has, and no name of the support."""
        names = ["a_b", "aB", "Ab", "1st", "", "é", "memory", "fixed_tensor", "tensor", "x\n#error y", "x #error y"]
        self.compile({name: _relu_method(_planned(0), _planned(16)) for name in names})
        found = [line.split()[1] for line in self.text("header").splitlines() if line.startswith("class ")]
        self.assertEqual(
            found,
            [
                "AB_x",
                "AB_x_",
                "Ab",
                "Method1st",
                "Method",
                "Method_",
                "Memory_",
                "FixedTensor_",
                "Tensor_",
                "XErrorY_x",
                "XErrorY_x_",
            ],
        )
        for text in (self.text("header"), self.text("source")):
            self.assertNotIn("\n#error", text)
            self.assertIn(r"The method `x\n#error y`.", text)

    def test_input_as_an_output(self) -> None:
        x, out = _of_caller(), _planned(0)
        header = self.header(Method([_relu(x, out)], (x,), (x, out, out), (64,)))
        for line in (
            "float* input0() { return reinterpret_cast<float*>(memories_[2]); }",
            "void set_input0(float* elements);",
            "const float* output0() const { return reinterpret_cast<const float*>(memories_[2]); }",
            "const float* output1() const { return reinterpret_cast<const float*>(memories_[1]); }",
            "const float* output2() const { return reinterpret_cast<const float*>(memories_[1]); }",
        ):
            self.assertIn(f"  {line}\n", header)
        self.assertIn("uint8_t* memories_[3];", header)

    def test_view_of_an_input(self) -> None:
        x, view, out = _of_caller(), Tensor(_FLOAT, (0, 1), (2, 2)), Tensor(_FLOAT, (0, 1), (2, 2), place=(1, 0))
        call = Call(_ET_VIEW, (x, programs.IntList((2, 2)), view))
        header = self.header(Method([call, _relu(view, out)], (x,), (view, out), (64,)))
        self.assertIn("void set_input0(float* elements);", header)
        self.assertNotIn("void set_output0", header)
        self.assertIn("const float* output0() const { return reinterpret_cast<const float*>(memories_[2]); }", header)

    def test_constants_as_inputs_and_outputs(self) -> None:
        constant = _constant(1, 2, 3, 4)
        header = self.header(Method([], (5, None, True, constant), (constant, "a\nb", 0.5)))
        for line in (
            "// input0 is always 5.",
            "// input1 is always None.",
            "// input2 is always True.",
            "const float* input3() { return reinterpret_cast<const float*>(memories_[0]); }",
            "const float* output0() const { return reinterpret_cast<const float*>(memories_[0]); }",
            r"// output1 is always 'a\nb'.",
            "// output2 is always 0.5.",
        ):
            self.assertIn(f"  {line}\n", header)

    def test_result_that_is_an_argument(self) -> None:
        """The value that a call returns may have an index of its own."""
        x, out, result = _planned(0), _planned(16), _of_caller()
        header = self.header(Method([Call("aten::relu.out", (x, out, result))], (x,), (result,), (64,)))
        self.assertIn(
            "const float* output0() const { return reinterpret_cast<const float*>(memories_[1] + 16); }", header
        )

    def test_results_that_are_each_other(self) -> None:
        a, b = _planned(0), _planned(16)
        calls = [Call("aten::relu.out", (a, a, b)), Call("aten::relu.out", (b, b, a))]
        self.compile({"forward": Method(calls, (a,), (b,), (64,))})

    def test_dynamic_sizes(self) -> None:
        x = Tensor(_FLOAT, (0, 1), (3, 4), place=(1, 0), is_dynamic=True)
        out = Tensor(_FLOAT, (0, 1), (3, 4), place=(1, 48), is_dynamic=True)
        header = self.header(Method([_relu(x, out)], (x,), (out,), (96,)))
        for line in (
            "/// float32 [<= 3, <= 4]",
            "compiled_program::Status resize_input0(const int32_t (&sizes)[2]);",
            "const int32_t* output0_sizes() const;",
            "int32_t sizes_[4], strides_[4];",
        ):
            self.assertIn(f"  {line}\n", header)


class SizeTest(TestCase):
    """Programs for size, and the scratch memory that a program declares."""

    def test_loops_for_size(self) -> None:
        """What the loops cannot do, a kernel of another namespace does, or damaged sizes ask for, calls the kernel."""
        stock = {"function": "torch::executor::native::relu_out"}
        short = Tensor(_FLOAT, (0,), (2,), place=(1, 0))
        integers = Tensor(_LONG, (0,), (4,), place=(1, 32))
        for source, kernel, has_loop in (
            (_planned(0), stock, True),
            (_planned(0), {}, False),
            (short, stock, False),
            (integers, stock, False),
        ):
            with self.subTest(source=source, kernel=kernel):
                method = Method([_relu(source, _planned(16))], memory=(64,))
                self.compile({"forward": method}, "--optimize=size", kernel=kernel)
                text = self.text("source")
                self.assertEqual("for (int32_t i = 0; i < 4; ++i) {" in text, has_loop)
                self.assertEqual("(context, self, out);" in text, not has_loop)
                self.assertEqual("kScratchBytes = 0;" in self.text("header"), has_loop)

    def test_loops_for_size_stay_in_their_tensors(self) -> None:
        stock = {"function": "torch::executor::native::cat_out"}
        for size, has_loops in ((8, True), (6, False)):
            out = _planned(32, size=size)
            cat = Call("aten::cat.out", (programs.TensorList((_planned(0), _planned(16))), 0, out, out))
            self.compile({"forward": Method([cat], memory=(64,))}, "--optimize=size", kernel=stock)
            self.assertEqual("(context, " in self.text("source"), not has_loops)

    def test_scratch_memory(self) -> None:
        out = _planned(16)
        self.compile({"forward": Method([_relu(_planned(0), out)], memory=(64,))}, "--scratch_bytes=1234")
        self.assertIn("  static constexpr size_t kScratchBytes = 1234;\n", self.text("header"))
        self.assertIn("  model_Forward_scratch_bytes = 1234,\n", self.text("c_header"))
        self.assertIn("  scratch memory  1,234\n", self.text("memory"))

    def test_no_scratch_memory_without_kernels(self) -> None:
        self.assertIn("kScratchBytes = 0;", self.header(Method([], memory=(64,))))
        self.assertNotIn("kScratchBytes", self.header(Method([_relu(_planned(0), _planned(16))], memory=(64,))))


class CTest(TestCase):
    """The header and the functions for C."""

    def test_functions(self) -> None:
        x = Tensor(_FLOAT, (0, 1), (3, 4), place=(1, 0), is_dynamic=True)
        given, out, count = _of_caller(), _planned(48), Result()
        calls = [_relu(x, out), _relu(given, out), Call("my_ops::count", (x, count))]
        self.compile({"forward": Method(calls, (x, given, 5), (out, count), (64,))})
        header, source = self.text("c_header"), _joined(self.text("c_source"))
        declarations = {
            "float* model_Forward_input0(model_Forward* self)": "of(self).input0()",
            "compiled_program_status model_Forward_resize_input0(model_Forward* self, const int32_t sizes[2])": (
                "of(of(self).resize_input0(*reinterpret_cast<const int32_t (*)[2]>(sizes)))"
            ),
            "const int32_t* model_Forward_input0_sizes(const model_Forward* self)": "of(self).input0_sizes()",
            "void model_Forward_set_input1(model_Forward* self, float* elements)": "of(self).set_input1(elements)",
            "const float* model_Forward_output0(const model_Forward* self)": "of(self).output0()",
            "int64_t model_Forward_output1(const model_Forward* self)": "of(self).output1()",
        }
        for declaration, call in declarations.items():
            self.assertIn(f"{declaration};\n", header)
            self.assertRegex(source, re.escape(declaration) + r" \{ return " + re.escape(call) + r"; \}\n")
        for line in (
            "  model_Forward_memory_bytes = 64,",
            "  model_Forward_input0_bytes = 48,",
            "  model_Forward_has_state = 0,",
            "// input2 is always 5.",
            "// float32 [<= 3, <= 4]",
        ):
            self.assertIn(f"{line}\n", header)

    def test_planned_memory(self) -> None:
        """Each planned memory begins at a multiple of 64, and no type of C++ is empty."""
        for sizes, expected in (((65, 0, 64), 256), ((), 1)):
            with self.subTest(sizes):
                self.compile({"forward": Method([], memory=sizes)})
                self.assertIn(f"  model_Forward_memory_bytes = {expected},\n", self.text("c_header"))

    def test_constants_by_pointer(self) -> None:
        self.compile({"forward": _relu_method(_planned(0), _planned(16))}, "--constants_by_pointer")
        self.assertIn("size_t scratch_bytes, const void* constants);", _joined(self.text("c_header")))
        self.assertIn("scratch, scratch_bytes, constants);", self.text("c_source"))


class CheckTest(TestCase):
    def test_samples(self) -> None:
        """The program has the samples of all methods, and the names of the methods."""
        x = Tensor(_FLOAT, (0,), (4,), place=(1, 0), is_dynamic=True)
        samples = {
            'a"b/0/input/0': _constant(1, 2),
            'a"b/0/output/0': _constant(5, 6, 7, 8),
            'a"b/1/input/0': _constant(3, 4, 5, 6),
        }
        path = self.write("samples.ptd", programs.tensor_data(samples))
        self.compile(
            {'a"b': _relu_method(x, _planned(16))}, f"--samples={path}", f"--check={self.directory}/model.check"
        )
        text = self.text("check")
        for line in (
            r'check.begin_method("a\"b");',
            "if (!check.succeeded(method.resize_input0({2}))) return;",
            "check.copy(method.input0(), 0, 8);",
            "check.copy(method.input0(), 128, 16);",
        ):
            self.assertIn(f"  {line}\n", text)
        self.assertEqual(
            (self.directory / "model.constants").read_bytes(),
            b"".join(sample.content.ljust(64, b"\0") for sample in samples.values() if sample.content)[:144],
        )


class StateTest(TestCase):
    def _assert_state(self, method: Method, state_bytes: int, *reset: str) -> None:
        """Asserts the bytes of the state, and the statements of reset()."""
        source = self.source(method)
        self.assertIn(f"kHasState = {'true' if state_bytes else 'false'};", self.text("header"))
        self.assertIn(f"  state, a part of the planned memory  {state_bytes}\n", self.text("memory"))
        statements = source.partition("void Forward::reset() {\n")[2].partition("}\n")[0]
        self.assertEqual([line.strip() for line in statements.splitlines()], [*reset])

    def test_read_before_written(self) -> None:
        state, x, out = _planned(0), _planned(16), _planned(32)
        add = Call("aten::add.out", (state, x, 1, out, out))
        method = Method([add, _copy(state, out)], (x,), (out,), (64,))
        self._assert_state(method, 16, "std::memset(memories_[1] + 0, 0, 16);")

    def test_written_before_read(self) -> None:
        buffer, x, out = _planned(0), _planned(16), _planned(32)
        self._assert_state(Method([_copy(buffer, x), _relu(buffer, out)], (x,), (out,), (64,)), 0)
        self._assert_state(Method([_relu(x, buffer), _relu(buffer, out)], (x,), (out,), (64,)), 0)

    def test_input_that_is_changed_in_place(self) -> None:
        x, out = _planned(0), _planned(16)
        self._assert_state(Method([_relu(x, out), _copy(x, out)], (x,), (out,), (64,)), 0)

    def test_view_of_state(self) -> None:
        state, out = _planned(0), _planned(16)
        view = Tensor(_FLOAT, (0, 1), (2, 2), place=(1, 0))
        call = Call(_ET_VIEW, (state, programs.IntList((2, 2)), view))
        self._assert_state(
            Method([call, _relu(view, out), _copy(view, out)], (), (out,), (64,)),
            16,
            "std::memset(memories_[1] + 0, 0, 16);",
        )

    def test_view_of_what_is_written(self) -> None:
        x, buffer, out = _planned(16), _planned(0), _planned(32)
        view = Tensor(_FLOAT, (0, 1), (2, 2), place=(1, 0))
        call = Call(_ET_VIEW, (buffer, programs.IntList((2, 2)), view))
        self._assert_state(Method([_relu(x, buffer), call, _relu(view, out)], (x,), (out,), (64,)), 0)

    def test_state_in_a_list(self) -> None:
        state, x, out = _planned(0), _planned(16), _planned(32, size=8)
        cat = Call("aten::cat.out", (programs.TensorList((x, state)), 0, out, out))
        self._assert_state(
            Method([cat, _copy(state, x)], (x,), (out,), (64,)), 16, "std::memset(memories_[1] + 0, 0, 16);"
        )

    def test_rows_of_a_loop(self) -> None:
        """A row is written to a tensor, which is not read."""
        rows, row, x = Tensor(_FLOAT, (0, 1), (2, 4), place=(1, 0)), _planned(32), _planned(48)
        copy = Call("executorch_prim::et_copy_index.tensor", (rows, row, 1))
        self._assert_state(Method([_relu(x, row), copy], (x,), (rows,), (64,)), 0)
        self.assertIn("const Error error = copy_index(copy_to, copy_from, int64_t{1});", self.text("source"))

    def test_initial_contents(self) -> None:
        content = struct.pack("<4f", 1, 2, 3, 4)
        state, zeros, x, out = _planned(0, content=content), _planned(16), _planned(32), _planned(48)
        method = Method(
            [Call("aten::add.out", (state, zeros, 1, out, out)), _copy(state, x), _copy(zeros, x)],
            (x,),
            (out,),
            (64,),
        )
        self._assert_state(
            method,
            32,
            "std::memset(memories_[1] + 16, 0, 16);",
            "std::memcpy(memories_[1] + 0, memories_[0] + 0, 16);",
        )
        self.assertEqual((self.directory / "model.constants").read_bytes(), content)


class SharedStateTest(TestCase):
    """Memory of several methods, as share_mutable_buffers of ExecuTorch's MemoryPlanningPass plans it."""

    def _methods(self, *buffers: Tensor) -> dict[str, Method]:
        x, out = _planned(0), _planned(16)
        return {
            f"method{i}": Method([_relu(buffer, out), _copy(buffer, x)], (x,), (out,), (64, 32))
            for i, buffer in enumerate(buffers)
        }

    def _buffer(self, name: str, offset: int = 0) -> Tensor:
        return Tensor(_FLOAT, (0,), (4,), place=(2, offset), name=name)

    def test_shared(self) -> None:
        self.compile(self._methods(self._buffer("cache"), self._buffer("cache"), self._buffer("calls", 16)))
        for text in (self.text("header"), self.text("source")):
            self.assertIn("Method0(Memory& memory, SharedState& state, void* scratch, size_t scratch_bytes)", text)
        self.assertEqual(self.text("header").count("alignas(64) uint8_t bytes[32];"), 1)
        self.assertNotIn("planned2", self.text("header"))
        self.assertIn("memory.planned1, state.bytes}", self.text("source"))
        self.assertIn("  model_Method2_memory_bytes = 64,\n", self.text("c_header"))
        self.assertIn("enum { model_shared_state_bytes = 64 };\n", self.text("c_header"))
        self.assertIn("State that the methods share  32\n", self.text("memory"))

    def test_view_of_the_state(self) -> None:
        """A method that does not write to a buffer does not name the buffer."""
        out, view = _planned(16), Tensor(_FLOAT, (0,), (2,), place=(2, 8))
        methods = self._methods(self._buffer("cache"))
        methods["read"] = Method([_relu(view, out)], (), (out,), (64, 32))
        self.compile(methods)
        self.assertIn("  std::memset(memories_[2] + 8, 0, 8);\n", self.text("source"))

    def test_method_that_only_writes(self) -> None:
        """Another method reads the buffer."""
        x, out, buffer = _planned(0), _planned(16), self._buffer("cache")
        self.compile(
            {
                "write": Method([_copy(buffer, x)], (x,), (), (64, 32)),
                "read": Method([_relu(buffer, out)], (), (out,), (64, 32)),
            }
        )
        self.assertEqual(self.text("source").count("  std::memset(memories_[2] + 0, 0, 16);\n"), 2)

    def test_not_shared(self) -> None:
        other_size = {**self._methods(self._buffer("a")), "b": Method([], memory=(64, 48))}
        other_buffer = self._methods(self._buffer("a"), self._buffer("b"))
        one_method = self._methods(self._buffer("a"))
        for methods in (other_size, other_buffer, one_method):
            with self.subTest(list(methods)):
                self.compile(methods)
                self.assertNotIn("SharedState", self.text("header"))
                self.assertIn("alignas(64) uint8_t planned2[32];", self.text("header"))

    def test_without_names(self) -> None:
        methods = self._methods(self._buffer(""), self._buffer(""))
        self.assert_refused(lambda: self.compile(methods), "uncompilable-program //app:model")

    def test_check(self) -> None:
        samples = {"method0/0/input/0": _constant(1, 2, 3, 4), "method0/0/output/0": _constant(0, 0, 0, 0)}
        path = self.write("samples.ptd", programs.tensor_data(samples))
        methods = self._methods(self._buffer("cache"), self._buffer("cache"))
        self.compile(methods, f"--samples={path}", f"--check={self.directory}/model.check")
        for line in (
            "  static Guarded<::model::SharedState> state;\n",
            "method(memory.content, state.content, scratch, sizeof(scratch));\n",
            "check.end_method(memory.is_intact() && state.is_intact(), ",
        ):
            self.assertIn(line, self.text("check"))


def _joined(text: str) -> str:
    """The text with each call in one line."""
    return re.sub(r"(?<=[(,])\n +", lambda match: "" if match.string[match.start() - 1] == "(" else " ", text)


if __name__ == "__main__":
    absltest.main()
