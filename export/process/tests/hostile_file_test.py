"""Model files that end the process, silence it, or raise what nobody expects."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from absl.testing import absltest

_MODEL = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_model():
    return Model(), (torch.ones(2),)
"""


def _forward(*lines: str) -> str:
    """A model file whose forward() has the given lines, from line 5 on."""
    return _MODEL.replace("return x * 2", "\n        ".join(lines))


_RAISING_TEXT = "class E(Exception):\n    def __str__(self): raise RuntimeError\n"
_FOREVER = "import threading, time\nthreading.Thread(target=time.sleep, args=(100000,)).start()\n"

# What a file does -> its source, where the error is, and parts of what the tool says.
_FAILURES = {
    "no_streams": (
        "import sys\nprint('reading')\nsys.stdout = sys.stderr = None\nraise ValueError('boo')\n",
        "4:1",
        ("raised ValueError: boo", "Printed during the export:\nreading\n"),
    ),
    "other_streams": (
        "import sys\nprint('reading')\nclass S:\n    def flush(self): raise KeyboardInterrupt\n"
        "sys.stdout = sys.stderr = sys.__stderr__ = S()\nraise ValueError('boo')\n",
        "6:1",
        ("raised ValueError: boo", "\nreading\n"),
    ),
    "ends": (
        "import os\nprint('reading', end='')\nos._exit(0)\n",
        "",
        ("ended with status 0, before the export was done", "\nreading\n", "#model-ends-process"),
    ),
    "ends_in_forward": (
        _forward("import os", "os._exit(3)"),
        "",
        ("ended with status 3, before", "#model-ends-process"),
    ),
    "crashes": (
        "import ctypes\nprint('reading', end='')\ndef get_model():\n    ctypes.string_at(0)\n",
        "4:1",
        ("was ended by SIGSEGV, before the export was done", "\nreading\n", "#model-ends-process"),
    ),
    "prints_without_end": (
        "for _ in range(50): print('x' * 2000000, end='')\nprint('last')\nraise ValueError('boo')\n",
        "3:1",
        ("raised ValueError: boo", "... of 100,000,005 bytes, the last\n", "xxxlast\n"),
    ),
    "says_without_end": ("raise ValueError('x' * 10**8)\n", "1:1", ("raised ValueError: xxxx",)),
    "recurs": ("def f(): f()\nf()\n", "1:10", ("raised RecursionError", "calls before\n")),
    "base_exception": ("class E(BaseException): pass\nraise E('odd')\n", "2:1", ("raised E: odd",)),
    "interrupts": ("def get_model():\n    raise KeyboardInterrupt\n", "2:5", ("get_model() raised KeyboardInterrupt",)),
    "generator_exit": (_forward("raise GeneratorExit"), "5:9", ("forward() on sample 0 raised GeneratorExit",)),
    "interrupts_trace": (
        _forward("if torch.compiler.is_compiling(): raise KeyboardInterrupt", "return x"),
        "5:43",
        ("torch.export of forward() raised KeyboardInterrupt",),
    ),
    "no_text": (_RAISING_TEXT + "raise E\n", "3:1", ("raised E: (its text cannot be made: RuntimeError)",)),
    "causes_itself": (
        "e = ValueError('a')\ne.__cause__ = e\n" + _forward("if torch.compiler.is_compiling(): raise e", "return x"),
        "7:43",
        ("torch.export of forward() raised ValueError: a",),
    ),
    "returns_nothing": (_forward("pass"), "6:1", ("Likely cause: forward() returns no tensor",)),
    "odd_class": (
        "class T:\n    @property\n    def __class__(self): raise OSError('odd')\ndef get_model(): return T()\n",
        "",
        ("the export raised OSError: odd", "--traceback"),
    ),
    "no_copy": (
        _MODEL.replace(
            "forward",
            "__init__(self):\n        super().__init__()\n        self.file = open(__file__)\n    def forward",
        ),
        "9:1",
        ("copying self.file of the module of forward() raised TypeError: cannot pickle '_io.TextIOWrapper' object",),
    ),
    "thread_and_failure": (_FOREVER + "raise ValueError('boo')\n", "3:1", ("raised ValueError: boo",)),
}
_PROGRAMS = {
    "thread": _FOREVER + _MODEL,
    "at_exit": "import atexit, time\natexit.register(time.sleep, 100000)\n" + _MODEL,
    "streams": "import sys\nsys.stdout = sys.stderr = None\n" + _MODEL,
    "folder": "import os\nos.chdir('/')\n" + _MODEL,
}

# Runs the tool on each file, with PyTorch imported once for all.
_RUN_ALL = """
import os, sys
from absl import flags
from export import exporter, main
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        os.dup2(os.open(f"{name}.said", os.O_WRONLY | os.O_CREAT), 2)
        flags.FLAGS(["main", f"--model={name}.py", f"--program={name}.pte", "--label=//pkg:model"])
        status = main.main(["main"])
        sys.stderr.flush()
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(f"{name}.status", "w") as file:
        file.write(str(status))
"""


class HostileFileTest(absltest.TestCase):
    """Whatever a model file does, the tool writes a program or says what is wrong, and ends."""

    def test_all(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        sources = {name: source for name, (source, _, _) in _FAILURES.items()} | _PROGRAMS
        for name, source in sources.items():
            (folder / f"{name}.py").write_text(source)
        path = os.pathsep.join(filter(None, [str(Path(__file__).parents[3]), *sys.path]))
        subprocess.run(
            [sys.executable, "-c", _RUN_ALL, *sources],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            check=True,
            timeout=280,
        )
        for name in sources:
            with self.subTest(name):
                said = (folder / f"{name}.said").read_text()
                status = (folder / f"{name}.status").read_text()
                if name in _PROGRAMS:
                    self.assertEqual((status, said), ("0", ""))
                    self.assertTrue((folder / f"{name}.pte").exists())
                    continue
                _, place, expected = _FAILURES[name]
                where = f"{name}.py:{place}: error: " if place else f"{name}.py: error: "
                self.assertEqual(status, "1")
                start = f"//pkg:model: cannot export\n{where}"
                self.assertEqual(said[: len(start)], start)
                for text in (*expected, "\n  Likely cause: ", "\n  Fix: ", "\n  See: docs/errors.md#"):
                    self.assertIn(text, said)
                self.assertNotIn("Traceback", said)
                self.assertLess(len(said), 12000)
                self.assertFalse((folder / f"{name}.pte").exists())


if __name__ == "__main__":
    absltest.main()
