from __future__ import annotations

import functools
import json
import os
import runpy
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest import mock

from absl.testing import absltest

from codegen.artifacts import torch_manifest, torch_operators
from codegen.artifacts.torch_operators import TorchOperator
from codegen.binaries import torch_registrations
from codegen.model import torch_library
from codegen.model.torch_library import FRAGMENT, IMPL, LIBRARY
from codegen.tests import case
from diagnostics.errors import Location

_HERE = Path(__file__).parent
_SOURCE = str(_HERE / "registrations.cpp")
_NM = os.environ["NM"]


def _line(text: str, source: str = _SOURCE) -> Location:
    """Where the line that begins with a text is, the last one if there are several."""
    lines = Path(source).read_text().splitlines()
    return Location(source, max(i for i, line in enumerate(lines, 1) if line.startswith(text)), 1)


class RegistrationsTest(case.TestCase):
    """Reads what the build's compiler makes of registrations.cpp."""

    def test_every_kind(self) -> None:
        found = torch_registrations.read(str(_HERE / "registrations.so"), [_SOURCE], _NM, "registrations")
        second = _line("STABLE_TORCH_LIBRARY_FRAGMENT(a_part_2")
        first = Location(_SOURCE, second.line - 2, 1)
        self.assertEqual(
            {(r.kind, r.namespace, r.dispatch_key, r.location) for r in found},
            {
                (LIBRARY, "whole", "", _line("STABLE_TORCH_LIBRARY(whole")),
                (FRAGMENT, "a_part_2", "", first),
                (FRAGMENT, "a_part_2", "", second),
                (IMPL, "aten", "CompositeExplicitAutograd", _line("STABLE_TORCH_LIBRARY_IMPL(aten")),
                (LIBRARY, "aten", "", _line("STABLE_TORCH_LIBRARY(  //")),
                (LIBRARY, "from_a_macro", "", None),
            },
        )
        self.assertEqual(len(found), 6)


class TorchLibraryCommandTest(case.TestCase):
    def _run(self, library: str, *arguments: str) -> None:
        self.run_command(
            "torch_library",
            "--label=//ops:my_ops",
            f"--library={library if '/' in library else _HERE / library}",
            f"--nm={_NM}",
            f"--manifest={self.directory / 'my_ops.torch.json'}",
            f"--module={self.directory / 'my_ops.py'}",
            *arguments,
        )

    def test_reserved_namespace(self) -> None:
        self.assert_refused(
            lambda: self._run("registrations.so", f"--source={_SOURCE}"),
            f"reserved-namespace {_line('STABLE_TORCH_LIBRARY(  //')}",
        )

    def test_namespace_defined_twice_in_one_library(self) -> None:
        again = str(_HERE / "again.cpp")
        self.assert_refused(
            lambda: self._run("twice.so", f"--source={_SOURCE}", f"--source={again}"),
            f"reserved-namespace {_line('STABLE_TORCH_LIBRARY(  //')}",
            "duplicate-namespace //ops:my_ops",
        )

    def test_other_namespace(self) -> None:
        self.assert_refused(lambda: self._run("unstable.so", "--namespace=stable"), "other-namespace //ops:my_ops")

    def test_registers_nothing(self) -> None:
        self.assert_refused(lambda: self._run(self._libtorch("libc10.so")), "registers-nothing //ops:my_ops")

    def test_module_of_another_name(self) -> None:
        self.assert_refused(lambda: self._run("module.so"), "other-module //ops:my_ops")

    def test_module_that_registers_nothing(self) -> None:
        module = self.directory / "mine.py"
        self._run("module.so", f"--module={module}")
        self.assertIn("ExtensionFileLoader", module.read_text())

    def test_stripped_library(self) -> None:
        self.assert_refused(lambda: self._run("stripped.so"), "stripped-library stripped.so")

    def test_unstable_symbols(self) -> None:
        torch = [f"--torch_library={self._libtorch(name)}" for name in ("libtorch_cpu.so", "libc10.so")]
        self.assert_refused(lambda: self._run("unstable.so", *torch), "unstable-symbol //ops:my_ops")
        self._run("unstable.so")  # With the aten API, they are welcome.

    def test_manifest(self) -> None:
        self._run("unstable.so", "--namespace=unstable")
        manifest = torch_manifest.read(str(self.directory / "my_ops.torch.json"))
        registration = torch_library.TorchRegistration(LIBRARY, "unstable")
        self.assertEqual(manifest, torch_library.TorchLibrary("//ops:my_ops", (registration,)))

    def test_manifest_of_a_library_that_was_loaded(self) -> None:
        """The symbols have a macro's name, the process that loads the library its value."""
        location = Location("ops/a.cpp", 7, 1)
        loaded = torch_library.TorchLibrary(
            "//ops:my_ops", (torch_library.TorchRegistration(LIBRARY, "expanded", "", location),)
        )
        path = str(self.directory / "my_ops.loaded.torch.json")
        torch_manifest.write(loaded, path)
        self._run("stripped.so", f"--loaded={path}", "--namespace=expanded")
        self.assertEqual(torch_manifest.read(str(self.directory / "my_ops.torch.json")), loaded)
        self.assertIn("expanded", (self.directory / "my_ops.py").read_text())

    def test_module(self) -> None:
        """Against a torch that only notes the calls; //examples/torch_matmul:collision_test has the real one."""
        self._run("unstable.so")
        library = self.write("unstable.so", b"")
        link = self.directory / "link"
        link.mkdir()
        (link / "unstable.so").symlink_to(library)
        module = link / "my_ops.py"
        module.symlink_to(self.directory / "my_ops.py")
        calls: list[tuple[str, ...]] = []
        torch = ModuleType("torch")
        torch.library = SimpleNamespace(Library=lambda *arguments: calls.append(arguments))  # type: ignore[attr-defined]
        torch.ops = SimpleNamespace(load_library=lambda path: calls.append((path,)))  # type: ignore[attr-defined]
        with mock.patch.dict(sys.modules, torch=torch):
            runpy.run_path(str(module))
        self.assertEqual(calls, [("unstable", "DEF"), (os.path.realpath(library),)])

    def test_module_in_another_python(self) -> None:
        """A program of the workspace may run under another Python than the one that the packages are for."""
        self._run("unstable.so")
        module = str(self.directory / "my_ops.py")
        without_torch = mock.patch.dict(sys.modules, torch=None)
        with without_torch, self.assertRaisesRegex(ImportError, "import of torch halted"):
            runpy.run_path(module)
        other = mock.patch.object(sys, "version_info", (3, 7, 2))
        with without_torch, other, self.assertRaises(ImportError) as raised:
            runpy.run_path(module)
        minor = sys.version_info[1]
        for part in (f"//ops:my_ops: expected Python 3.{minor}, ", "found Python 3.7\n", "EXECUTORCH_PYTHON"):
            self.assertIn(part, str(raised.exception))

    def _libtorch(self, name: str) -> str:
        """A library of the PyTorch that the build links with."""
        (found,) = _HERE.parents[2].glob(f"_solib*/*libtorch*/{name}")
        return str(found)


# The report of a check without manifests.
_EMPTY_REPORT = "What the operator libraries register with PyTorch:\n"


class TorchCheckCommandTest(case.TestCase):
    def _manifest(self, label: str, kind: str, namespace: str) -> str:
        path = str(self.directory / f"{label.rpartition(':')[2]}.torch.json")
        location = Location("ops/a.cpp", 7, 1) if kind == LIBRARY else None
        registration = torch_library.TorchRegistration(kind, namespace, "CPU" if kind == IMPL else "", location)
        torch_manifest.write(torch_library.TorchLibrary(label, (registration,)), path)
        return f"--manifest={path}"

    def _run(self, *manifests: str) -> str:
        output = self.directory / "report.txt"
        self.run_command("torch_check", "--label=//app:app", f"--output={output}", *manifests)
        return output.read_text()

    def test_report(self) -> None:
        manifests = (
            self._manifest("//ops:a", LIBRARY, "ns"),
            self._manifest("//ops:b", FRAGMENT, "ns"),
            self._manifest("//ops:c", IMPL, "ns"),
        )
        self.assertEqual(
            self._run(*manifests),
            "What the operator libraries register with PyTorch:\n"
            "ns: fragment of //ops:b\n"
            "ns: impl CPU of //ops:c\n"
            "ns: library of //ops:a (ops/a.cpp:7:1)\n",
        )

    def test_duplicate_namespace(self) -> None:
        manifests = (self._manifest("//ops:a", LIBRARY, "ns"), self._manifest("//ops:b", LIBRARY, "ns"))
        self.assert_refused(lambda: self._run(*manifests), "duplicate-namespace //app:app")

    def test_not_a_manifest(self) -> None:
        for content in ("{}", "[]", "no JSON", '{"label": "", "registrations": [{}]}'):
            run = functools.partial(self._run, f"--manifest={self.write('manifest.json', content)}")
            self.assert_refused(run, "wrong-artifact manifest.json")


class TorchCheckOfOperatorsTest(case.TestCase):
    """An operator that one library derives from its out variant."""

    def _run(self, *definers: tuple[str, str]) -> str:
        arguments, output = [], self.directory / "report.txt"
        for label, derived_by in definers:
            path = str(self.directory / f"{label.rpartition(':')[2]}.torch_operators.json")
            torch_operators.write(label, [TorchOperator("ns::mul", "", ("CPU",), derived_by)], path)
            arguments.append(f"--operators={path}")
        self.run_command("torch_check", "--label=//app:app", f"--output={output}", *arguments)
        return output.read_text()

    def test_defined_by_another(self) -> None:
        for definers in (
            (("//yaml:ops", "//yaml:ops"), ("//ops:mul", "")),
            (("//ops:mul", ""), ("//yaml:ops", "//yaml:ops")),
        ):
            self.assert_refused(functools.partial(self._run, *definers), "derived-operator //app:app")

    def test_derived_twice(self) -> None:
        """The first definition stays; both run the same kernel."""
        self.assertEqual(self._run(("//yaml:ops", "//yaml:ops"), ("//yaml:all", "//yaml:all")), _EMPTY_REPORT)


class TorchCheckOfAPackageTest(case.TestCase):
    """What a package of AOTInductor calls, against what the libraries of its binary have."""

    def _run(self, *libraries: dict[str, list[str]]) -> str:
        flags = []
        for index, operators in enumerate(libraries):
            path = self.directory / f"ops{index}.torch_operators.json"
            described = [
                {"name": name, "schema": "", "kernels": keys, "derived_by": ""} for name, keys in operators.items()
            ]
            path.write_text(json.dumps({"label": f"//ops:{index}", "operators": described}))
            flags.append(f"--operators={path}")
        needed, output = self.directory / "model.operators.txt", self.directory / "report.txt"
        needed.write_text("ns::add.out\nns::mul\n")
        package = ("--package=//app:model", f"--needed={needed}")
        self.run_command("torch_check", "--label=//app:runner", f"--output={output}", *package, *flags)
        return output.read_text()

    def test_all_there(self) -> None:
        libraries = ({"ns::add.out": ["CPU", "Meta"], "ns::other": []}, {"ns::mul": ["CompositeExplicitAutograd"]})
        self.assertEqual(self._run(*libraries), _EMPTY_REPORT)

    def test_kernel_in_another_library_than_the_definition(self) -> None:
        report = self._run({"ns::add.out": ["CPU"], "ns::mul": ["Meta"]}, {"ns::mul": ["Meta", "CPU"]})
        self.assertEqual(report, _EMPTY_REPORT)

    def test_defined_nowhere(self) -> None:
        self.assert_refused(
            lambda: self._run({"ns::add.out": ["CPU"], "ns::mull": ["CPU"]}), "missing-torch-operator //app:runner"
        )

    def test_no_kernel_for_the_cpu(self) -> None:
        self.assert_refused(
            lambda: self._run({"ns::add.out": ["CPU"], "ns::mul": ["CUDA", "Meta"]}),
            "missing-torch-operator //app:runner",
        )


if __name__ == "__main__":
    absltest.main()
