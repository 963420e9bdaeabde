"""The export tool as a worker: what it answers is what a process of its own for each export writes and says."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from absl.testing import absltest

_MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
    def forward(self, x):
        return self.linear(x)
def get_model():
    return Model(), (torch.ones(2, 4),)
"""
_OF_TRANSFORMERS = """
import torch
from transformers import BertConfig, BertModel
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        config = BertConfig(
            hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, vocab_size=32
        )
        self.bert = BertModel(config)
    def forward(self, ids):
        return self.bert(ids).last_hidden_state
def get_model():
    return Model(), (torch.arange(8).reshape(1, 8),)
"""
_PARTS = "import part\n" + _MODEL.replace("self.linear(x)", "self.linear(x) * part.SCALE")
# Fails if the modules that a worker imports for transformers change PyTorch or the environment.
_IMPORTS = """
import importlib, os, threading
from export import exporter, main
import torch
from torch.utils import _pytree
def state():
    operators = torch._C._dispatch_get_all_op_names()
    return len(_pytree.SUPPORTED_NODES), len(operators), torch.get_rng_state().tolist(), dict(os.environ)
before = state()
for name in main.MODULES_OF_TRANSFORMERS:
    importlib.import_module(name)
assert state() == before, name
assert threading.active_count() == 1
"""
_WAITS = "import time\ntime.sleep(1000)\n"
# What a model changes that the next one in the same process would notice.
_CHANGES = (
    "import os, sys, torch\n"
    "os.environ['PATH'] = '/nowhere'\n"
    "os.chdir('/')\n"
    "sys.path.clear()\n"
    "sys.modules['part'] = sys.modules['torch.nn'] = torch\n"
    "torch.set_default_dtype(torch.float64)\n"
    "torch.manual_seed(7)\n"
    "torch.Tensor.__mul__ = torch.Tensor.__add__ = None\n"
    "torch.library.custom_op('mine::op', lambda x: x, mutates_args=(), schema='(Tensor x) -> Tensor')\n"
    "raise ValueError('changed')\n"
)
_LOOKS_ABOUT = (
    "import os, tempfile\n"
    "found = [sorted(os.listdir(folder)) for folder in ('.', tempfile.gettempdir(), os.environ['TMPDIR'])]\n"
    "raise ValueError(f'found {found}')\n"
)
_LEAVES_PROCESS = (
    "import os, subprocess\nprocess = subprocess.Popen(['sleep', '1000'])\nraise ValueError(f'process {process.pid}')\n"
)
# torch imports opt_einsum where it is installed.
_ASKS_TORCH = "import torch\nraise ValueError(f'opt_einsum is {torch.backends.opt_einsum.is_available()}')\n"


class _Worker:
    """The tool as a worker in a folder, and as a process of its own for one export."""

    def __init__(self) -> None:
        self.folder, self.temporary, self._others = (
            Path(tempfile.mkdtemp(dir=absltest.TEST_TMPDIR.value)) for _ in range(3)
        )
        self._tool = [sys.executable, str(Path(__file__).absolute().parents[2] / "main.py")]
        # The search path of this process, which Bazel sets up, is that of the tool.
        self._environment = {
            **os.environ,
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join(str(Path(path).absolute()) for path in sys.path if path),
        }
        self.process = subprocess.Popen(
            [*self._tool, "--persistent_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=self.folder,
            env=self._environment | {"TMPDIR": str(self.temporary)},
        )

    def stop(self) -> None:
        self.process.communicate()

    def write(self, name: str, content: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return name

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def send(self, *arguments: str, inputs: Sequence[str] = (), **fields: object) -> None:
        assert self.process.stdin
        files = [{"path": path, "digest": "a0"} for path in inputs]
        self.process.stdin.write(json.dumps({"arguments": arguments, "inputs": files, **fields}) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        response: dict[str, Any] = json.loads(self.process.stdout.readline())
        return response

    def request(self, *arguments: str, inputs: Sequence[str] = (), **fields: object) -> dict[str, Any]:
        self.send(*arguments, inputs=inputs, **fields)
        return self.receive()

    def alone(self, *arguments: str) -> tuple[int, str]:
        """The exit code and the output of a process of its own, which takes its arguments from a file."""
        parameters = self.write("alone.params", "\n".join(arguments) + "\n")
        done = subprocess.run(
            [*self._tool, f"@{parameters}"],
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self._environment | {"TMPDIR": str(self._others)},
        )
        return done.returncode, done.stderr


def _has_ended(process: int) -> bool:
    """Whether a process ends within some seconds; nobody may have taken its exit code."""
    status = Path(f"/proc/{process}/stat")
    for _ in range(200):
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


class WorkerTest(absltest.TestCase):
    """All tests ask one worker, as a build does."""

    _worker: _Worker

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls._worker = _Worker()

    @classmethod
    def tearDownClass(cls) -> None:
        cls._worker.stop()
        super().tearDownClass()

    def _assert_ok(self, response: dict[str, Any]) -> None:
        self.assertEqual(response, {"exitCode": 0, "output": "", "requestId": response["requestId"]})

    def test_same_bytes_as_a_process_of_its_own(self) -> None:
        for name, source in (("plain", _MODEL), ("transformers", _OF_TRANSFORMERS)):
            with self.subTest(name):
                self._check_bytes(name, source)
                files = Path(f"/proc/{self._worker.process.pid}/maps").read_text()
                self.assertEqual("/scipy/" in files, name == "transformers", "the worker has imported scipy")

    def _check_bytes(self, name: str, source: str) -> None:
        worker = self._worker
        model = worker.write(f"{name}/model.py", source)
        outputs = ("program", "samples", "report", "report_json", "passes_report", "passes_report_json", "origins")

        def arguments(folder: str) -> Sequence[str]:
            (worker.folder / name / folder).mkdir()
            written = (f"--{output}={name}/{folder}/{output}" for output in outputs)
            return (f"--model={model}", f"--import_path={name}", *written)

        self.assertEqual(worker.alone(*arguments("alone")), (0, ""))
        # Again and again: an export must not change what the next one comes to.
        for folder in ("first", "second"):
            self._assert_ok(worker.request(*arguments(folder), inputs=[model]))
            for output in outputs:
                self.assertEqual(
                    worker.read(f"{name}/{folder}/{output}"), worker.read(f"{name}/alone/{output}"), output
                )
        with self.subTest("a process forked off one with threads may wait for them forever"):
            self.assertLen(list(Path(f"/proc/{worker.process.pid}/task").iterdir()), 1)

    def test_modules_of_transformers_register_nothing(self) -> None:
        done = subprocess.run([sys.executable, "-c", _IMPORTS], env=self._worker._environment, text=True)
        self.assertEqual(done.returncode, 0)

    def test_modules_of_one_name(self) -> None:
        worker = self._worker
        for folder in ("a", "b"):
            worker.write(f"{folder}/model.py", _PARTS)
        worker.write("a/part.py", "SCALE = 2\n")
        worker.write("b/part.py", "SCALE = 3\n")
        for number, folder in enumerate(("a", "b", "a")):
            command = (f"--model={folder}/model.py", f"--import_path={folder}", f"--program={number}.pte")
            self._assert_ok(worker.request(*command, inputs=[f"{folder}/model.py", f"{folder}/part.py"]))
        self.assertEqual(worker.read("0.pte"), worker.read("2.pte"))
        self.assertNotEqual(worker.read("0.pte"), worker.read("1.pte"))
        self.assertEqual(worker.alone("--model=b/model.py", "--import_path=b", "--program=b/alone.pte"), (0, ""))
        self.assertEqual(worker.read("1.pte"), worker.read("b/alone.pte"))

    def test_failures(self) -> None:
        worker = self._worker
        worker.write("good.py", _PARTS)
        worker.write("part.py", "SCALE = 2\n")
        good = ("--model=good.py", "--import_path=.", "--program=good.pte")
        self._assert_ok(worker.request(*good, inputs=["good.py", "part.py"]))
        expected = worker.read("good.pte")
        for name, source, said in (
            ("raises", "print('reading')\nraise ValueError('boo')\n", "2:1: error: running the model file raised"),
            ("crashes", "import ctypes\nctypes.string_at(0)\n", "was ended by SIGSEGV, before the export was done"),
            ("ends", "import os\nos._exit(3)\n", "ended with status 3, before the export was done"),
            ("is_killed", "import os\nos.kill(os.getpid(), 9)\n", "was ended by SIGKILL, before the export was done"),
            (
                "kills_group",
                "import os\nos.killpg(0, 9)\n",
                "the process was ended by SIGKILL, before the export was done\n  Likely cause: ",
            ),
            ("changes", _CHANGES, "raised ValueError: changed"),
            ("lacks_module", "import part\n", "No module named 'part'"),
        ):
            with self.subTest(name):
                model = worker.write(f"{name}.py", source)
                command = (f"--model={model}", "--import_path=.", f"--program={name}.pte", "--label=@repo//pkg:model")
                response = worker.request(*command, inputs=[model], requestId=5)
                self.assertEqual(response["exitCode"], 128 + signal.SIGKILL if name == "kills_group" else 1)
                self.assertIn(said, response["output"])
                if name in ("raises", "crashes"):
                    self.assertStartsWith(response["output"], "@repo//pkg:model: cannot export\n")
                    self.assertEqual((response["exitCode"], response["output"]), worker.alone(*command))
                self.assertFalse((worker.folder / f"{name}.pte").exists())
                self._assert_ok(worker.request(*good, inputs=["good.py", "part.py"]))
                self.assertEqual(worker.read("good.pte"), expected)

    def test_wrong_usage(self) -> None:
        worker = self._worker
        for arguments, code, said in (
            (("--nonsense",), 1, "Unknown command line flag 'nonsense'"),
            (("--model=a.py", "more"), 1, "unexpected arguments: more"),
            (("--help",), 1, "--[no]strict_passes"),
        ):
            response = worker.request(*arguments)
            self.assertEqual(response["exitCode"], code)
            self.assertIn(said, response["output"])
        assert worker.process.stdin
        worker.process.stdin.write('{"requestId": 5, "arguments": 7}\n')
        worker.process.stdin.flush()
        said = "export: not a work request of Bazel's: arguments is not a list of text\n"
        self.assertEqual(worker.receive(), {"exitCode": 1, "output": said, "requestId": 5})

    def test_a_model_sees_the_inputs_of_its_request_alone(self) -> None:
        worker = self._worker
        worker.write("other.py", "")
        worker.write("folder/one.txt", "")
        worker.write("folder/two.txt", "")
        worker.write("sandbox/pkg/model.py", _LOOKS_ABOUT)
        model = worker.write("pkg/model.py", _LOOKS_ABOUT)
        for inputs, found in (
            ([model], ["pkg"]),
            ([model, "folder/one.txt", "folder"], ["folder", "pkg"]),
        ):
            for directory in ("", "sandbox"):
                command = (f"--model={model}", "--program=a.pte")
                response = worker.request(*command, inputs=inputs, sandboxDir=directory)
                self.assertIn(f"found [{found}, [], []]", response["output"])

    def test_a_sandbox(self) -> None:
        worker = self._worker
        model = worker.write("sandbox/1/model.py", _MODEL).removeprefix("sandbox/1/")
        (worker.folder / "sandbox/1/out").mkdir()
        command = (f"--model={model}", "--program=out/a.pte")
        self._assert_ok(worker.request(*command, inputs=[model], sandboxDir="sandbox/1"))
        self.assertTrue((worker.folder / "sandbox/1/out/a.pte").exists())
        self.assertEqual(worker.request(*command, inputs=[model], sandboxDir="sandbox/2")["exitCode"], 1)

    def test_modules_that_imports_would_have_found(self) -> None:
        """A model's folders may hold another PyTorch, or what PyTorch uses if it is there."""
        worker = self._worker
        model = worker.write("asks.py", _ASKS_TORCH)
        for other, said in (
            ("nothing/more.py", "raised ValueError: opt_einsum is False"),
            ("einsum/opt_einsum.py", "raised ValueError: opt_einsum is True"),
            ("torch/torch/__init__.py", "torch"),
        ):
            with self.subTest(other):
                folder = other.partition("/")[0]
                command = (f"--model={model}", f"--import_path={folder}", "--program=a.pte")
                response = worker.request(*command, inputs=[model, worker.write(other, "")])
                self.assertIn(said, response["output"])
                if folder == "torch":
                    self.assertEqual((response["exitCode"], response["output"]), worker.alone(*command))

    def test_a_cleaner_of_temporary_files(self) -> None:
        model = self._worker.write("fails.py", "raise ValueError('ran')\n")
        for _ in range(2):
            response = self._worker.request(f"--model={model}", "--program=a.pte", inputs=[model])
            self.assertIn("ran", response["output"])
            (folder,) = self._worker.temporary.iterdir()
            shutil.rmtree(folder)

    def test_verbose(self) -> None:
        worker = self._worker
        model = worker.write("model.py", "print('reading')\n" + _MODEL)
        response = worker.request(f"--model={model}", "--program=a.pte", "--verbose", inputs=[model])
        self.assertEqual(response["exitCode"], 0)
        self.assertIn("reading\n", response["output"])

    def test_processes_that_a_model_leaves(self) -> None:
        worker = self._worker
        model = worker.write("model.py", _LEAVES_PROCESS)
        output = worker.request(f"--model={model}", "--program=a.pte", inputs=[model])["output"]
        process = int(output.partition("process ")[2].split()[0])
        self.assertTrue(_has_ended(process))

    def test_requests_at_once(self) -> None:
        worker = self._worker
        waits, good = worker.write("waits.py", _WAITS), worker.write("good.py", _MODEL)
        worker.send(f"--model={waits}", "--program=waits.pte", inputs=[waits], requestId=1)
        for number in (2, 3):
            worker.send(f"--model={good}", f"--program={number}.pte", inputs=[good], requestId=number)
        responses = [worker.receive() for _ in range(2)]
        for response in responses:
            self._assert_ok(response)
        self.assertCountEqual([response["requestId"] for response in responses], [2, 3])
        worker.send(cancel=True, requestId=1)
        response = worker.receive()
        self.assertEqual((response["requestId"], response["wasCancelled"]), (1, True))

    def test_an_export_that_bazel_asks_for_anew(self) -> None:
        """The former process does not write over what the latter wrote."""
        worker = self._worker
        model = worker.write("model.py", _WAITS)
        worker.send(f"--model={model}", "--program=a.pte", inputs=[model], requestId=1)
        worker.write("model.py", _MODEL)
        worker.send(f"--model={model}", "--program=a.pte", inputs=[model], requestId=2)
        responses = {response["requestId"]: response for response in (worker.receive(), worker.receive())}
        self.assertEqual(responses[1]["exitCode"], 128 + signal.SIGKILL)
        self._assert_ok(responses[2])


class EndTest(absltest.TestCase):
    """With the worker, what it works on ends, and nothing stays of it."""

    def _check(self, end: Callable[[_Worker], object]) -> None:
        worker = _Worker()
        started = worker.folder / "started"
        tell = f"open('{started}.new', 'w').write(str(os.getpid()))\nos.rename('{started}.new', '{started}')\n"
        model = worker.write("model.py", "import os\n" + tell + _WAITS)
        worker.send(f"--model={model}", "--program=a.pte", inputs=[model])
        while not started.exists():
            time.sleep(0.05)
        process = int(started.read_text())
        end(worker)
        worker.stop()
        self.assertEmpty(list(worker.temporary.iterdir()))
        self.assertTrue(_has_ended(process))

    def test_no_more_requests(self) -> None:
        self._check(lambda worker: None)

    def test_a_deleted_directory(self) -> None:
        def end(worker: _Worker) -> None:
            worker.folder.rename(worker.folder.with_name("moved"))
            worker.folder.mkdir()  # Bazel makes the folders of later requests.
            worker.process.wait(timeout=30)

        self._check(end)

    def test_signal(self) -> None:
        self._check(lambda worker: worker.process.send_signal(signal.SIGTERM))


if __name__ == "__main__":
    absltest.main()
