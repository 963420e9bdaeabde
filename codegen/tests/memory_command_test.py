"""Tests of `codegen memory` and `codegen memory_limit` on small programs whose plans of memory are made by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from absl.testing import absltest

from codegen.model import scalar_types
from codegen.tests import case, programs
from codegen.tests.programs import Call, Instruction, JumpIfFalse, Method, Move, Tensor, TensorList

_FLOAT = scalar_types.SCALAR_TYPES["Float"]
_BOOL = scalar_types.SCALAR_TYPES["Bool"]


def _tensor(sizes: tuple[int, ...], place: tuple[int, int] | None, **more: Any) -> Tensor:
    return Tensor(_FLOAT, tuple(range(len(sizes))), sizes, place=place, **more)


class MemoryCommandTest(case.TestCase):
    def _report(self, methods: dict[str, Method], *flags: str, backends: Sequence[str] = ()) -> dict[str, Any]:
        """Writes the report of a program; gives the JSON."""
        program = self.write("model.pte", programs.build(methods, backends=backends))
        self.run_command(
            "memory",
            "--label=//app:model",
            f"--program={program}",
            *(f"--{kind}={self.directory}/memory.{kind}" for kind in ("json", "html")),
            f"--text={self.directory}/memory.txt",
            *flags,
        )
        report: dict[str, Any] = json.loads((self.directory / "memory.json").read_text())
        return report

    def _method(self, method: Method, *flags: str, backends: Sequence[str] = ()) -> dict[str, Any]:
        (found,) = self._report({"forward": method}, *flags, backends=backends)["methods"]
        return dict(found)

    def _spans(self, method: Method) -> dict[str, tuple[int, int]]:
        """Returns the first and the last instruction of each content, by name or place."""
        tensors = self._method(method)["tensors"]
        return {tensor["name"] or str(tensor["offset"]): (tensor["first"], tensor["last"]) for tensor in tensors}

    def test_chain_of_calls(self) -> None:
        x, y = _tensor((4,), (1, 0)), _tensor((4,), (1, 0))
        a, b = _tensor((8,), (1, 16)), _tensor((2,), (1, 48))
        calls = [Call("aten::a.out", (x, a)), Call("aten::b.out", (a, b)), Call("aten::c.out", (b, y))]
        report = self._method(Method(calls, (x,), (y,), (64,)))
        # x and a; a and b; b and y, in the memory of x.
        self.assertEqual(report["in_use"], [16 + 32, 32 + 8, 8 + 16])
        self.assertEqual((report["planned"], report["peak"], report["peak_bytes"]), (64, 0, 48))
        self.assertEqual(
            [(tensor["name"], tensor["offset"], tensor["first"], tensor["last"]) for tensor in report["tensors"]],
            [("input 0", 0, 0, 0), ("", 16, 0, 1), ("", 48, 1, 2), ("output 0", 0, 2, 2)],
        )
        self.assertEqual([port["is_planned"] for port in report["ports"]], [True, True])

    def test_views_count_once(self) -> None:
        whole, half, result = _tensor((4,), (1, 0)), _tensor((2,), (1, 8)), _tensor((2,), (1, 16))
        calls = [Call("aten::a.out", (whole,)), Call("view", (whole, half)), Call("aten::b.out", (half, result))]
        report = self._method(Method(calls, (), (result,), (24,)))
        self.assertEqual(report["in_use"], [16, 16, 16])
        self.assertEqual(sum(tensor["bytes"] for tensor in report["tensors"]), 16 + 8 + 8)

    def test_result_in_place_counts_once(self) -> None:
        before, after, y = _tensor((4,), (1, 0)), _tensor((4,), (1, 0)), _tensor((4,), (1, 16))
        calls = [Call("aten::a.out", (before,)), Call("aten::b_", (before, after)), Call("aten::c.out", (after, y))]
        self.assertEqual(self._spans(Method(calls, (), (y,), (32,))), {"0": (0, 2), "output 0": (2, 2)})

    def test_inputs_and_outputs_wait(self) -> None:
        """An input is there from the first instruction, and an output until the last one."""
        x, y, a, b = (_tensor((4,), (number, 0)) for number in (1, 2, 3, 4))
        calls = [Call("aten::a.out", (a, y)), Call("aten::b.out", (a, b)), Call("aten::c.out", (x, b))]
        report = self._method(Method(calls, (x,), (y,), (16, 16, 16, 16)))
        spans = {tensor["name"]: (tensor["first"], tensor["last"]) for tensor in report["tensors"] if tensor["name"]}
        self.assertEqual((spans["input 0"], spans["output 0"]), ((0, 2), (0, 2)))
        # Places in other memories are other bytes. `a` is state, since nothing writes it.
        self.assertEqual(report["in_use"], [48, 64, 64])

    def test_state_is_always_in_use(self) -> None:
        named, filled = _tensor((2,), (1, 0), name="cache"), _tensor((2,), (2, 0), content=bytes(8))
        x, y = _tensor((1,), (1, 8)), _tensor((1,), (1, 12))
        calls = [Call("aten::a.out", (x, y)), Call("aten::b.out", (named, y)), Call("aten::c.out", (filled, y))]
        spans = self._spans(Method(calls, (x,), (y,), (16, 8)))
        self.assertEqual(spans, {"state cache": (0, 2), "state": (0, 2), "input 0": (0, 0), "output 0": (0, 2)})

    def test_state_without_name(self) -> None:
        cache, count, part = _tensor((2,), (1, 0)), _tensor((1,), (1, 8)), _tensor((1,), (1, 4))
        x, y, copied = _tensor((1,), (1, 12)), _tensor((1,), (1, 16)), _tensor((1,), (1, 20))
        calls = [
            Call("aten::copy_", (copied, x, copied)),
            Call("aten::add_", (count, x, count)),
            Call("view", (cache, part, part)),
            Call("aten::a.out", (part, copied, y, y)),
            Call("aten::copy_", (cache, y, cache)),
        ]
        spans = self._spans(Method(calls, (x,), (y,), (24,)))
        # `count` is changed, and `cache` read, before anything writes there; `copied` is overwritten first.
        tensors = self._method(Method(calls, (x,), (y,), (24,)))["tensors"]
        self.assertEqual({tensor["offset"] for tensor in tensors if tensor["name"] == "state"}, {0, 8})
        self.assertEqual(spans["4"], (2, 3))
        self.assertEqual(spans["20"], (0, 3))

    def test_result_of_a_branch(self) -> None:
        condition = Tensor(_BOOL, (0,), (1,), place=(1, 0))
        left, right, result, y = (_tensor((4,), (1, 16 * at)) for at in (1, 2, 3, 4))
        instructions: list[Instruction] = [
            JumpIfFalse(condition, 4),
            Call("aten::a.out", (left,)),
            Move(left, result),
            JumpIfFalse(False, 6),
            Call("aten::b.out", (right,)),
            Move(right, result),
            Call("aten::c.out", (result, y)),
        ]
        spans = self._spans(Method(instructions, (condition,), (y,), (80,)))
        # The memory of `result` is that of the branch that ran, until the last call.
        self.assertEqual(spans, {"input 0": (0, 0), "16": (1, 6), "32": (4, 6), "output 0": (6, 6)})

    def test_output_in_the_memory_of_a_branch(self) -> None:
        made, result = _tensor((4,), (1, 0)), _tensor((4,), None)
        report = self._method(Method([Call("aten::a.out", (made,)), Move(made, result)], (), (result,), (16,)))
        self.assertEqual([port["is_planned"] for port in report["ports"]], [True])

    def test_loop(self) -> None:
        x, y, step = _tensor((4,), (1, 0)), _tensor((4,), (1, 16)), _tensor((4,), (1, 32))
        instructions: list[Instruction] = [
            Call("aten::a.out", (x,)),
            Call("aten::b.out", (x, step)),
            Call("aten::c.out", (step, y)),
            JumpIfFalse(True, 1),
            Call("aten::d.out", (y,)),
        ]
        # Each turn reads x again.
        self.assertEqual(
            self._spans(Method(instructions, (), (y,), (48,))), {"0": (0, 3), "32": (1, 2), "output 0": (2, 4)}
        )

    def test_lists_and_constants(self) -> None:
        weight, other = _tensor((4,), None, content=bytes(16)), _tensor((100,), None, external="key")
        x, y = _tensor((1,), (1, 0)), _tensor((1,), (1, 4))
        report = self._report(
            {
                "one": Method([Call("aten::cat.out", (TensorList((x, weight)), y))], (x,), (y,), (8,)),
                "two": Method(
                    [Call("aten::b.out", (weight, other, y)), Call("aten::c.out", (other, y))], (), (y,), (8,)
                ),
            }
        )
        self.assertEqual(
            [(constant["bytes"], constant["user"], constant["is_external"]) for constant in report["constants"]],
            [(400, "two: aten::b.out", True), (16, "one: aten::cat.out", False), (16, "two: aten::b.out", False)],
        )
        self.assertEqual(report["methods"][0]["tensors"][0]["name"], "input 0")

    def test_weights_files(self) -> None:
        weights = [f"--weights={self.write(name, bytes(size))}" for name, size in (("a.ptd", 1000), ("b.ptd", 234))]
        y = _tensor((1,), (1, 0))
        report = self._report({"one": Method([Call("aten::b.out", (y,))], (), (y,), (4,))}, *weights)
        self.assertEqual(report["bytes"], report["program_bytes"] + 1234 + 4)
        self.assertRegex((self.directory / "memory.txt").read_text(), r"\nweights files +1,234\n")
        self.assertIn("the files of its weights with 1,234, and", (self.directory / "memory.html").read_text())

    def test_memory_of_the_application(self) -> None:
        x, y = _tensor((4,), None), _tensor((4,), (1, 0), is_dynamic=True)
        report = self._method(Method(["delegate", Call("aten::a.out", (x, y))], (x,), (y,), (16,)), backends=["Npu"])
        self.assertEqual([port["is_planned"] for port in report["ports"]], [False, True])
        text = (self.directory / "memory.txt").read_text()
        self.assertIn("float32 [4] at most", text)
        self.assertIn("in memory of the application", text)
        self.assertIn("and the memory of the backends: Npu", text)

    def test_what_if(self) -> None:
        y = _tensor((4,), (1, 0))
        other = self.write(
            "other.pte", programs.build({"forward": Method([Call("aten::a.out", (y,))], (), (y,), (40,))})
        )
        self._method(Method([Call("aten::a.out", (y,))], (), (y,), (16,)), f"--what_if=//app:other\t{other}")
        text = (self.directory / "memory.txt").read_text()
        self.assertRegex(
            text, r"what if the program were //app:other\n.*\n  method forward, planned memory +40 +\+24\n"
        )
        self.assertIn("What if the program were //app:other", (self.directory / "memory.html").read_text())

    def test_page_has_a_box_for_each_content(self) -> None:
        x, y = _tensor((4,), (1, 0)), _tensor((8,), (2, 0), name="a<b>")
        self._method(Method([Call("aten::a.out", (x, y))], (x,), (), (16, 32)))
        page = (self.directory / "memory.html").read_text()
        boxes = re.findall(r'<rect class="k\d" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"><title>([^\n]+)', page)
        # The second memory is below the first.
        self.assertCountEqual(
            boxes,
            [
                ("0", "0", "1", "16", "input 0, float32 [4], 16 bytes"),
                ("0", "16", "1", "32", "state a&lt;b&gt;, float32 [8], 32 bytes"),
            ],
        )

    def test_methods_without_memory(self) -> None:
        for method in (Method([]), Method([Call("aten::a.out")])):
            self.assertEqual(self._method(method)["peak_bytes"], 0)

    def _limit(self, flag: str) -> None:
        a, b = _tensor((8,), (1, 0)), _tensor((4,), (1, 32))
        self._method(Method([Call("aten::a.out", (a,)), Call("aten::b.out", (a, b))], (), (b,), (48,)))
        self.run_command(
            "memory_limit",
            "--label=//app:memory",
            f"--report={self.directory}/memory.json",
            flag,
            f"--output={self.directory}/within_limit",
        )

    def test_limits(self) -> None:
        self._limit("--max_planned_bytes=48")
        self._limit("--max_bytes=100000")
        self.assert_refused(lambda: self._limit("--max_planned_bytes=47"), "memory-too-large //app:memory")
        self.assert_refused(lambda: self._limit("--max_bytes=49"), "memory-too-large //app:memory")

    def test_limit_of_another_file(self) -> None:
        report = self.write("memory.json", "[]")
        self.assert_refused(
            lambda: self.run_command(
                "memory_limit", "--label=//app:memory", f"--report={report}", f"--output={self.directory}/out"
            ),
            "wrong-artifact memory.json",
        )


if __name__ == "__main__":
    absltest.main()
