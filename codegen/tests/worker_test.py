from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from absl.testing import absltest

from codegen import worker
from codegen.tests import case, programs

_OUTPUTS = {
    "KernelTable.cpp": "kernel_table=KernelTable.cpp",
    "RegisterKernels.cpp": "registration=RegisterKernels.cpp",
    "RegisteredNames.cpp": "registered_names=RegisteredNames.cpp",
    "NativeFunctions.h": "native_functions=NativeFunctions.h",
    "Functions.h": "functions=Functions.h",
    "registered.json": "manifest=registered.json",
}


class WorkerTest(case.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self._codegen = [sys.executable, "-m", "codegen.main"]
        # The search path of this process, which Bazel sets up, is that of the tool.
        self._environment = {"PYTHONPATH": ":".join(str(Path(p).absolute()) for p in sys.path if p)}
        self._worker = subprocess.Popen(
            [*self._codegen, "--persistent_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.directory,
            env=self._environment,
        )
        self.addCleanup(self._stop)

    def _stop(self) -> None:
        _, stderr = self._worker.communicate()
        self.assertEqual((self._worker.returncode, stderr), (0, ""))

    def _send(self, *requests: dict[str, Any]) -> None:
        assert self._worker.stdin
        self._worker.stdin.write("".join(json.dumps(request) + "\n" for request in requests))
        self._worker.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._worker.stdout
        response: dict[str, Any] = json.loads(self._worker.stdout.readline())
        return response

    def _request(self, *arguments: str, **fields: object) -> dict[str, Any]:
        """The response to one request, whose inputs are given as Bazel gives them."""
        inputs = []
        for path in sorted(self.directory.rglob("*")):
            if path.is_file():
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                inputs.append({"path": str(path.relative_to(self.directory)), "digest": digest})
        self._send({"arguments": arguments, "inputs": inputs, **fields})
        return self._receive()

    def _assert_ok(self, response: dict[str, Any]) -> None:
        self.assertEqual(response, {"exitCode": 0, "output": "", "requestId": response["requestId"]})

    def _generate(self, selection: str, prefix: str = "") -> Sequence[str]:
        outputs = [
            f"--{flag.replace('=', f'={prefix}')}" for flag in (*_OUTPUTS.values(), "boxed_kernels=boxed_kernels")
        ]
        return [
            "generate",
            "--max_kernels=2000",
            "--label=//a:b",
            "--functions_yaml=functions.yaml",
            f"--selection={selection}",
            *outputs,
        ]

    def _write_functions(self, *names: str) -> None:
        entries = [
            f"- op: {name}.out\n  kernels:\n    - arg_meta: null\n      kernel_name: my::{name}_out\n" for name in names
        ]
        self.write("functions.yaml", "".join(entries))

    def _one_shot(self, *arguments: str) -> None:
        subprocess.run([*self._codegen, *arguments], check=True, cwd=self.directory, env=self._environment)

    def test_ends_without_its_directory(self) -> None:
        self._assert_ok(self._request("--help") | {"output": ""})
        self.directory.rename(self.directory.with_name("moved"))
        self.directory.mkdir()  # Bazel makes the folders of later requests.
        self.assertEqual(self._worker.wait(timeout=30), 1)
        self._worker.returncode = 0  # For _stop().

    def test_same_bytes_as_one_shot(self) -> None:
        self._write_functions("add", "mul")
        self.write("model.pte", programs.build({"forward": [["aten::add.out"]]}))
        select = ("select", "--model=model.pte", "--model_name=//m:m")
        self._one_shot(*select, "--output=s.yaml")
        self._one_shot(*self._generate("s.yaml"))
        expected = {name: (self.directory / name).read_bytes() for name in _OUTPUTS}
        # Again and again: what the worker remembers must not change what it answers.
        for _ in range(3):
            self._assert_ok(self._request(*select, "--output=worker.yaml"))
            self.assertEqual((self.directory / "worker.yaml").read_bytes(), (self.directory / "s.yaml").read_bytes())
            self._assert_ok(self._request(*self._generate("worker.yaml", prefix="worker_")))
            for name in _OUTPUTS:
                content = (self.directory / f"worker_{name}").read_bytes().replace(b"worker_Native", b"Native")
                self.assertEqual(content, expected[name])

    def test_flags_do_not_stay(self) -> None:
        self._assert_ok(self._request("select", "--ops=aten::add.out", "--include_all_operators", "--output=1.yaml"))
        self._assert_ok(self._request("select", "--ops=aten::mul.out", "--output=2.yaml"))
        self._one_shot("select", "--ops=aten::mul.out", "--output=expected.yaml")
        self.assertEqual((self.directory / "2.yaml").read_text(), (self.directory / "expected.yaml").read_text())

    def test_a_changed_file_is_read_again(self) -> None:
        self._write_functions("add")
        self._assert_ok(self._request("select", "--include_all_operators", "--output=all.yaml"))
        for names in (("add",), ("add", "mul"), ("mul",)):
            self._write_functions(*names)
            self._assert_ok(self._request(*self._generate("all.yaml")))
            registered = json.loads((self.directory / "registered.json").read_text())["operators"]
            functions = [operator["kernels"][0]["function"] for operator in registered]
            self.assertEqual(functions, [f"my::native::{name}_out" for name in names])

    def test_symbols_are_read_once_for_the_same_libraries(self) -> None:
        """However often a library is bound to the same kernels, nm runs once; to changed ones, again."""
        self._write_functions("add")
        self._one_shot("select", "--ops=aten::add.out", "--output=s.yaml")
        self._one_shot(*self._generate("s.yaml"))
        nm = Path(self.write("nm", "#!/bin/sh\necho run >>runs\n"))
        nm.chmod(0o755)
        bind = ("bind", "--manifest=registered.json", "--nm=./nm", "--library=kernels.o", "--output=Adapters.cpp")
        for content, runs in (("one", 1), ("one", 1), ("two", 2), ("one", 2)):
            self.write("kernels.o", content)
            self.assertIn("is defined nowhere", self._request(*bind)["output"])
            self.assertEqual((self.directory / "runs").read_text().count("run"), runs)

    def test_errors_belong_to_their_request(self) -> None:
        """The answer to bad input is what a user sees; the next request is answered as if nothing had been."""
        self._write_functions("add")
        self.write("broken.yaml", "operators: [}")
        for arguments, expected in (
            (("select", "--ops=add.out", "--label=//a:b", "--output=x.yaml"), "//a:b: error: 'add.out' is not an"),
            (self._generate("broken.yaml"), "broken.yaml:1:"),
            (("select", "--nm=x", "--output=x.yaml"), "codegen select: Unknown command line flag 'nm'"),
            (("select",), "codegen select: flag --output=None: Flag --output must have a value"),
            (("sel",), "codegen: there is no subcommand 'sel'"),
        ):
            for request_id in (7, 8):
                response = self._request(*arguments, requestId=request_id)
                self.assertEqual((response["exitCode"], response["requestId"]), (1, request_id))
                self.assert_starts_with(response["output"], expected)
            self._assert_ok(self._request("select", "--ops=aten::add.out", "--output=s.yaml"))

    def test_an_output_that_cannot_be_written(self) -> None:
        response = self._request("select", "--ops=aten::add.out", "--output=no/such/directory/s.yaml")
        self.assertEqual(response["exitCode"], 1)
        self.assertEqual(response["output"], "codegen select: no/such/directory/s.yaml: No such file or directory\n")
        self._assert_ok(self._request("select", "--ops=aten::add.out", "--output=s.yaml"))

    def test_a_mistake_of_ours_is_no_end(self) -> None:
        def run(arguments: Sequence[str]) -> int:
            if not arguments:
                raise KeyError("no arguments")
            return 0

        requests = io.StringIO('{"requestId": 3}\n{"requestId": 4, "arguments": ["x"]}\n')
        responses = io.StringIO()
        worker.answer_all(requests, responses, run)
        first, second = (json.loads(line) for line in responses.getvalue().splitlines())
        self.assertEqual((first["exitCode"], first["requestId"]), (1, 3))
        self.assertIn("KeyError", first["output"])
        self.assertEqual(second, {"exitCode": 0, "output": "", "requestId": 4})

    def test_malformed_requests(self) -> None:
        """Each is answered in a line, and the next request is answered as if nothing had been."""
        assert self._worker.stdin
        for line, request_id, expected in (
            ("{", 0, "it is no JSON: Expecting property name"),
            ("[" * 100_000, 0, "it is no JSON: "),
            ('"' + "a" * 10**6, 0, "it is no JSON: Invalid control character"),
            ("\udcff", 0, "it is no JSON: Expecting value"),
            ("[]", 0, "it is a list, not an object"),
            ("null", 0, "it is a NoneType, not an object"),
            ('{"requestId": "a"}', 0, "requestId is 'a', not a number"),
            ('{"requestId": 5, "arguments": "select"}', 5, "arguments is not a list of text"),
            ('{"requestId": 5, "arguments": [1]}', 5, "arguments is not a list of text"),
            (
                '{"requestId": 5, "inputs": [{"digest": "x"}]}',
                5,
                "inputs is not a list of objects with path and digest",
            ),
            ('{"requestId": 5, "inputs": ["a"]}', 5, "inputs is not a list of objects with path and digest"),
            ('{"requestId": 5, "inputs": 7}', 5, "inputs is not a list of objects with path and digest"),
            ('{"requestId": 5, "sandboxDir": 7}', 5, "sandboxDir is not text"),
        ):
            with self.subTest(ascii(line[:50])):
                with open(self._worker.stdin.fileno(), "wb", closefd=False) as stdin:
                    stdin.write(line.encode(errors="surrogateescape") + b"\n")
                response = self._receive()
                self.assertEqual((response["exitCode"], response["requestId"]), (1, request_id))
                self.assert_starts_with(response["output"], f"codegen: not a work request of Bazel's: {expected}")
                self.assertEqual(response["output"].count("\n"), 1)
                self.assertLess(len(response["output"]), 3000)
        self.assertEqual(self._request("no-such-command", unknown="field")["exitCode"], 1)
        self._assert_ok(self._request("select", "--ops=aten::add.out", "--output=s.yaml"))

    def test_output_never_mixes_with_responses(self) -> None:
        response = self._request("--help")
        self.assertEqual(response["exitCode"], 0)
        self.assertIn("Usage: codegen", response["output"])

    def test_many_requests_at_once(self) -> None:
        """As to a multiplex worker, each in a sandbox of its own."""
        self._one_shot("select", "--ops=aten::add.out", "--output=expected.yaml")
        count = 40
        for i in range(count):
            (self.directory / f"sandbox/{i}/out").mkdir(parents=True)
        requests: list[dict[str, Any]] = [
            {
                "arguments": ["select", "--ops=aten::add.out", "--output=out/s.yaml"],
                "requestId": i + 1,
                "sandboxDir": f"sandbox/{i}",
            }
            for i in range(count)
        ]
        self._send(*requests)
        responses = [self._receive() for _ in requests]
        self.assertEqual({r["requestId"] for r in responses}, set(range(1, count + 1)))
        for response in responses:
            self._assert_ok(response)
        expected = (self.directory / "expected.yaml").read_bytes()
        for i in range(count):
            self.assertEqual((self.directory / f"sandbox/{i}/out/s.yaml").read_bytes(), expected)

    def test_a_sandbox_that_is_not_there(self) -> None:
        response = self._request("select", "--ops=aten::add.out", "--output=s.yaml", sandboxDir="gone")
        self.assertEqual(response["exitCode"], 1)
        self._assert_ok(self._request("select", "--ops=aten::add.out", "--output=s.yaml"))


if __name__ == "__main__":
    absltest.main()
