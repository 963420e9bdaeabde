"""Calls of a module of executorch_python_library."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from typing import Any
from unittest import mock

import numpy
import torch
from absl.testing import absltest

from codegen.inputs import program_content_reader
from codegen.model.execution_plan import Tensor
from runtime.python.tests import methods, model  # type: ignore[attr-defined]

_REPORT = """
import sys
sys.path[:] = {path!r}
from runtime.python.tests import methods
{code}
"""


def _run(code: str) -> str:
    """Runs Python code in a process of its own; returns the output."""
    text = _REPORT.format(path=sys.path, code=code)
    return subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout.strip()


class Other:
    """An array of another library: DLPack alone."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class ModuleTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.addresses: list[int] = []
        run = methods._LIBRARY.rules_executorch_run

        def record(program: Any, method: bytes, arguments: Any, results: Any) -> int:
            self.addresses = list(arguments)
            result: int = run(program, method, arguments, results)
            return result

        self.enter_context(mock.patch.object(methods._LIBRARY, "rules_executorch_run", record))

    def test_results_are_those_of_pytorch(self) -> None:
        for name, (module, inputs) in model.get_model().items():
            with self.subTest(name):
                given = [one.numpy() if isinstance(one, torch.Tensor) else one for one in inputs]
                results = getattr(methods.Program(), name)(*given)
                expected = module(*(one.clone() if isinstance(one, torch.Tensor) else one for one in inputs))
                expected = expected if isinstance(expected, tuple) else (expected,)
                results = results if isinstance(results, tuple) else (results,)
                for result, one in zip(results[-len(expected) :], expected, strict=True):
                    if isinstance(one, torch.Tensor):
                        self.assertIs(type(result), numpy.ndarray)
                        torch.testing.assert_close(torch.from_numpy(result), one, atol=1e-4, rtol=1e-4)
                    else:
                        self.assertEqual(result, one)
                        self.assertIs(type(result), type(one))

    def test_inputs_are_not_copied(self) -> None:
        array = numpy.ones((2, 4), numpy.float32)
        tensor = torch.ones(2, 4)
        for value, address in (
            (array, array.ctypes.data),
            (tensor, tensor.data_ptr()),
            (Other(array), array.ctypes.data),
        ):
            with self.subTest(type(value).__name__):
                methods.affine(value)
                self.assertEqual(self.addresses, [address, 2, 4])

    def test_the_program_reads_the_memory_of_the_caller(self) -> None:
        path = f"{methods._FOLDER}/methods.pte"
        for plan in program_content_reader.read(path, "methods").plans:
            for index in plan.inputs:
                value = plan.values[index]
                if isinstance(value, Tensor):
                    self.assertIsNone(value.place, f"the runtime copies an input of {plan.name}")

    def test_a_read_only_array_is_not_copied(self) -> None:
        array = numpy.ones((2, 4), numpy.float32)
        array.setflags(write=False)
        methods.affine(array)
        self.assertEqual(self.addresses[0], array.ctypes.data)

    def test_another_layout_is_copied(self) -> None:
        rows = numpy.arange(8, dtype=numpy.float32).reshape(4, 2).T
        numpy.testing.assert_array_equal(methods.affine(rows)[0], rows * 2 + 1)
        image = numpy.random.default_rng(0).random((1, 3, 6, 5), dtype=numpy.float32)
        last = numpy.ascontiguousarray(image.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        numpy.testing.assert_array_equal(methods.image(image), methods.image(last))
        self.assertEqual(self.addresses[0], last.ctypes.data)

    def test_an_input_that_the_program_writes_to_stays(self) -> None:
        array = numpy.ones(3, numpy.float32)
        written, result = methods.write(array)
        numpy.testing.assert_array_equal(array, [1, 1, 1])
        numpy.testing.assert_array_equal(written, [2, 2, 2])
        numpy.testing.assert_array_equal(result, [4, 4, 4])

    def test_results_are_the_callers(self) -> None:
        first, _ = methods.affine(numpy.zeros((2, 4), numpy.float32))
        methods.affine(numpy.ones((2, 4), numpy.float32))
        numpy.testing.assert_array_equal(first, numpy.ones((2, 4)))
        first[:] = 5

    def test_results_in_the_memory_of_the_program(self) -> None:
        program = methods.Program(copy=False)
        first, _ = program.affine(numpy.zeros((2, 4), numpy.float32))
        second, _ = program.affine(numpy.ones((2, 4), numpy.float32))
        self.assertEqual(first.ctypes.data, second.ctypes.data)
        with self.assertRaises(ValueError):
            first[:] = 5
        del program
        gc.collect()
        numpy.testing.assert_array_equal(second, numpy.full((2, 4), 3))

    def test_dynamic_sizes(self) -> None:
        for rows in (1, 16, 3):
            x = numpy.random.default_rng(rows).random((rows, 4), dtype=numpy.float32)
            doubled, index = methods.affine(x)
            numpy.testing.assert_allclose(doubled, x * 2 + 1, rtol=1e-6)
            numpy.testing.assert_array_equal(index, x.argmax(axis=1))

    def test_state_is_of_an_instance(self) -> None:
        one, other = methods.Program(), methods.Program()
        ones = numpy.ones(3, numpy.float32)
        for expected in (1, 2, 3):
            numpy.testing.assert_array_equal(one.count(ones), [expected] * 3)
        numpy.testing.assert_array_equal(other.count(ones), [1] * 3)
        before = methods.count(ones)
        numpy.testing.assert_array_equal(methods.count(ones), before + 1)
        # Another method keeps the state.
        one.affine(numpy.ones((2, 4), numpy.float32))
        numpy.testing.assert_array_equal(one.count(ones), [4] * 3)

    def test_wrong_inputs(self) -> None:
        x = numpy.ones((2, 4), numpy.float32)
        mask = numpy.ones(6, bool)
        cases: tuple[tuple[Any, type[Exception], str], ...] = (
            (methods.affine, TypeError, r"affine: expected 1 inputs \(float32 at most \[16, 4\]\); got 0"),
            (lambda: methods.affine(x, x), TypeError, "affine: expected 1 inputs .*; got 2"),
            (
                lambda: methods.affine(x.astype(float)),
                TypeError,
                r"affine: input 0: expected float32 at most \[16, 4\]; got float64 \[2, 4\]",
            ),
            (lambda: methods.affine(x[0]), ValueError, r"input 0: .*; got float32 \[4\]"),
            (lambda: methods.affine(numpy.ones((17, 4), numpy.float32)), ValueError, r"got float32 \[17, 4\]"),
            (lambda: methods.affine([[1.0] * 4]), TypeError, "got list, of which NumPy makes no array"),
            (lambda: methods.affine(torch.ones(2, 4, device="meta")), TypeError, "got Tensor, of which"),
            (lambda: methods.count(numpy.ones(2, numpy.float32)), ValueError, r"expected float32 \[3\]; got"),
            (lambda: methods.mixed(numpy.arange(6), 4, mask), ValueError, "mixed: input 1: expected 3; got 4"),
            (lambda: methods.mixed(numpy.arange(6), 3, x), TypeError, r"input 2: expected bool \[6\]; got float32"),
        )
        for call, error, text in cases:
            with self.subTest(text), self.assertRaisesRegex(error, text) as raised:
                call()
            self.assertRegex(str(raised.exception), r"\n\nLikely cause: .*\nFix: .*\nSee: ")
            self.assertEndsWith(str(raised.exception), "docs/errors.md#wrong-input")

    def test_a_kernel_fails(self) -> None:
        x = numpy.ones((4, 2), numpy.float32)
        with self.assertRaisesRegex(RuntimeError, "methods.pick: method pick failed .*\n\nLikely cause: a kernel"):
            methods.pick(x, numpy.array([7, 0]))
        numpy.testing.assert_array_equal(methods.pick(x, numpy.array([3, 0])), numpy.ones((2, 2)))

    def test_threads_of_python_run_beside_a_call(self) -> None:
        x = numpy.zeros((512, 512), numpy.float32)
        program = methods.Program()
        program.slow(x)
        beside: list[float] = []
        done = threading.Event()

        def tick() -> None:
            while not done.is_set():
                beside.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        begin = time.monotonic()
        program.slow(x)
        end = time.monotonic()
        done.set()
        thread.join()
        ticks = sum(begin < one < end for one in beside)
        # With the GIL, the other thread would not run between the begin and the end of a call.
        self.assertGreater(ticks, 3, f"{ticks} in {end - begin:.3f} s")

    def test_threads_share_an_instance(self) -> None:
        program = methods.Program()
        ones = numpy.ones(3, numpy.float32)
        threads = [threading.Thread(target=lambda: [program.count(ones) for _ in range(200)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        numpy.testing.assert_array_equal(program.count(ones), [801] * 3)


class ThreadsTest(absltest.TestCase):
    def test_number_of_threads(self) -> None:
        count = "print(len(__import__('os').listdir('/proc/self/task')))"
        run = "import numpy; methods.slow(numpy.zeros((512, 512), numpy.float32))"
        before = int(_run(count))
        self.assertEqual(
            int(_run(f"import numpy; methods.set_threads(1)\n{run}\n{count}")), int(_run(f"import numpy\n{count}"))
        )
        self.assertEqual(int(_run(f"methods.set_threads(4)\n{run}\n{count}")) - before, 3)

    def test_late_call(self) -> None:
        methods.count(numpy.ones(3, numpy.float32))
        with self.assertRaisesRegex(RuntimeError, "set_threads: expected a call before the first run; .*\n") as raised:
            methods.set_threads(2)
        self.assertEndsWith(str(raised.exception), "See: docs/errors.md#late-threads")
        with self.assertRaisesRegex(ValueError, "at least 1; got 0"):
            methods.set_threads(0)


if __name__ == "__main__":
    absltest.main()
