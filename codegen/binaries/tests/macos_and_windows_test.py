"""Tests of reading files for macOS and Windows: the same sources give the same answers as in files for Linux.

Zig's clang compiles and links the files.
"""

from __future__ import annotations

import functools
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

import ziglang
from absl.testing import absltest

from codegen.binaries import dynamic_linking, formats, image_reader, object_files, symbols
from codegen.binaries.attribution import Attribution
from codegen.binaries.dynamic_linking import DynamicLinking
from codegen.binaries.object_files import Registrations
from codegen.tests import case

_NM, _HEADER = sys.argv[1:3]
# The header is below this folder, and so is c10.
_INCLUDES = _HEADER.partition("executorch/runtime/")[0]
_FLAGS = (
    "-std=c++17",
    "-g0",
    "-O0",
    "-DC10_USING_CUSTOM_GENERATED_MACROS",
    f"-I{_INCLUDES}",
    f"-I{_INCLUDES}/executorch/runtime/core/portable_type/c10",
)
_LINUX = "x86_64-linux-gnu"
_MACOS = ("aarch64-macos", "x86_64-macos")
_WINDOWS = "x86_64-windows-gnu"
_OTHERS = (*_MACOS, _WINDOWS)
_HERE = Path(__file__).parent
# As in a generated library, whose manifest has the registered kernels.
_GENERATED = """\
namespace executorch::runtime {
struct Span { const void* data; unsigned long size; };
int register_kernels(Span kernels);
}
namespace ops_0123abcd {
executorch::runtime::Span kernels() { return {nullptr, 0}; }
static int registered = executorch::runtime::register_kernels(kernels());
}
"""


class MacosAndWindowsTest(case.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    @classmethod
    def zig(cls, *arguments: str | Path) -> None:
        zig = Path(str(ziglang.__file__)).with_name("zig")
        cache = str(cls.folder / "cache")
        environ = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        done = subprocess.run([zig, *arguments], env=environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    @classmethod
    @functools.cache
    def object(cls, name: str, target: str, *flags: str) -> str:
        """The path of the object file of a source of this folder."""
        output = cls.folder / f"{name}{''.join(flags)}.{target}.o"
        cls.zig("c++", "-target", target, *_FLAGS, *flags, "-c", _HERE / f"{name}.cpp", "-o", output)
        return str(output)

    @classmethod
    def archive(cls, name: str, target: str, format_: str) -> str:
        output = cls.folder / f"lib{name}.{target}.{format_}.a"
        # A second member with a long name, and of an odd size.
        other = cls.folder / "a_member_with_a_name_of_more_than_sixteen_letters.txt"
        other.write_text("odd")
        cls.zig("ar", "rc", f"--format={format_}", output, other, cls.object(name, target))
        return str(output)

    @classmethod
    @functools.cache
    def library(cls, name: str, target: str, *flags: str) -> str:
        output = cls.folder / f"lib{name}.{target}.{'dylib' if 'macos' in target else 'dll'}"
        undefined = "-Wl,-undefined,dynamic_lookup"
        obj = cls.object(name, target)
        cls.zig("c++", "-target", target, "-shared", "-nostdlib", undefined, obj, *flags, "-o", output)
        return str(output)

    def universal(self, paths: Sequence[str]) -> str:
        """The path of a file with the files for two processors."""
        contents = [Path(path).read_bytes() for path in paths]
        head = struct.pack(">II", 0xCAFEBABE, len(contents))
        body = b""
        for processor, content in zip((0x100000C, 0x1000007), contents, strict=True):
            head += struct.pack(">IIIII", processor, 0, 4096 + len(body), len(content), 12)
            body += content + b"\0" * (-len(content) % 4096)
        return self.write("universal.a", head.ljust(4096, b"\0") + body)

    def expected(self) -> dict[str, str]:
        """The operators of the source, with the places of their registrations."""
        lines = (_HERE / "executorch_library.cpp").read_text().splitlines()
        found = {}
        for number, line in enumerate(lines, start=1):
            if line.startswith("EXECUTORCH_LIBRARY("):
                namespace, name = line.partition("(")[2].split(", ")[:2]
                found[f"{namespace}::{name.strip(chr(34))}"] = f"executorch_library.cpp:{number}"
        return found

    def assert_registers(self, path: str, expected: dict[str, str]) -> None:
        found = object_files.registrations(path)
        self.assertEqual({each.operator: each.place for each in found.known}, expected, path)
        self.assertEqual(len(found.known), len(expected), path)
        self.assertFalse(found.has_unknown, path)

    def test_formats(self) -> None:
        for target, expected in ((_LINUX, "ELF"), *((macos, "Mach-O") for macos in _MACOS), (_WINDOWS, "COFF")):
            self.assertEqual(formats.of_file(self.object("kernels", target)), expected)
        self.assertEqual(formats.of_file(self.library("kernels", _WINDOWS)), "PE")
        self.assertEqual(formats.of_file(self.archive("kernels", _MACOS[0], "darwin")), "Mach-O")

    def test_macro(self) -> None:
        expected = self.expected()
        self.assertEqual(len(expected), 2)
        for target in (_LINUX, *_OTHERS):
            self.assert_registers(self.object("executorch_library", target), expected)

    def test_macro_in_archives(self) -> None:
        for target, format_ in (
            (_LINUX, "gnu"),
            (_LINUX, "bsd"),
            (_WINDOWS, "gnu"),
            (_WINDOWS, "coff"),
            *((macos, "darwin") for macos in _MACOS),
        ):
            self.assert_registers(self.archive("executorch_library", target, format_), self.expected())

    def test_macro_in_libraries(self) -> None:
        for target in _MACOS:
            self.assert_registers(self.library("executorch_library", target), self.expected())

    def test_macro_in_a_file_for_several_processors(self) -> None:
        for paths in (
            [self.object("executorch_library", target) for target in _MACOS],
            [self.archive("executorch_library", target, "darwin") for target in _MACOS],
        ):
            self.assert_registers(self.universal(paths), self.expected())

    def test_macro_of_one_processor(self) -> None:
        path = self.universal([self.object("executorch_library", _MACOS[0]), self.object("kernels", _MACOS[1])])
        self.assert_registers(path, self.expected())

    def test_macro_after_optimization(self) -> None:
        """Clang leaves the names out, on all platforms."""
        for target in (_LINUX, *_OTHERS):
            found = object_files.registrations(self.object("executorch_library", target, "-O2"))
            self.assertEqual(found, Registrations((), True), target)

    def test_what_cannot_be_read(self) -> None:
        paths = [self.object("registered_by_hand", target) for target in (_LINUX, *_OTHERS)]
        for path in [*paths, self.library("registered_by_hand", _MACOS[0])]:
            self.assertEqual(object_files.registrations(path), Registrations((), True), path)
            self.assertEqual(object_files.backends(path, ("MyBackend", "OtherBackend")), {"MyBackend"}, path)

    def test_names_of_microsofts_compiler(self) -> None:
        path = self.folder / "microsoft.obj"
        source = self.write("microsoft.cpp", _GENERATED.replace("ops_0123abcd", "by_hand"))
        self.zig("c++", "-target", "x86_64-windows-msvc", "-O1", "-c", source, "-o", path)
        self.assertEqual(object_files.registrations(str(path)), Registrations((), True))

    def test_generated_library(self) -> None:
        source = self.write("generated.cpp", _GENERATED)
        for target in (_LINUX, *_OTHERS):
            path = str(self.folder / f"generated.{target}.o")
            self.zig("c++", "-target", target, "-O1", "-c", source, "-o", path)
            self.assertIn(b"register_kernels", Path(path).read_bytes())
            self.assertEqual(object_files.registrations(path), Registrations(), target)

    def test_other_files(self) -> None:
        # The second one begins as a class of Java, and the third one as an entry of an import library of Windows.
        for content in (
            b"\xca\xfe\xba\xbe\0\0\0\x02name_of_op_1",
            b"\xca\xfe\xba\xbe\0\0\0\x34name_of_op_1",
            b"\0\0\xff\xff\0\0\x64\x86 register_kernels and more",
        ):
            path = self.write("file", content)
            self.assertEqual(object_files.registrations(path), Registrations())
            self.assertEqual(formats.of_file(path), None)

    def test_damaged_files(self) -> None:
        noise = random.Random(3)
        for target in _OTHERS:
            data = Path(self.object("executorch_library", target)).read_bytes()
            for _ in range(50):
                damaged = bytearray(data[: noise.randrange(100, len(data))])
                for _ in range(20):
                    damaged[noise.randrange(len(damaged))] ^= noise.randrange(256)
                path = self.write("damaged.o", bytes(damaged))
                object_files.registrations(path)
                dynamic_linking.read(Path(path))

    def test_without_lief(self) -> None:
        with mock.patch.dict(sys.modules, {"lief": None}):
            for target in _OTHERS:
                path = self.object("registered_by_hand", target)
                self.assertEqual(
                    self.places(functools.partial(object_files.registrations, path)),
                    [f"unreadable-binary {path}"],
                )
                # A file that registers nothing needs no reading.
                self.assertEqual(object_files.registrations(self.object("kernels", target)), Registrations())
        name = self.write("kernels.o", Path(self.object("registered_by_hand", _MACOS[0])).read_bytes())
        with mock.patch.dict(sys.modules, {"lief": None}):
            self.assert_refused(lambda: object_files.registrations(name), "unreadable-binary kernels.o")

    def test_files_of_linux_do_not_start_lief(self) -> None:
        code = (
            "import sys; from codegen.binaries import dynamic_linking, image_reader, object_files, symbols;"
            "object_files.registrations(sys.argv[1]); print('lief' in sys.modules)"
        )
        for target, expected in ((_LINUX, "False"), (_MACOS[0], "True")):
            path = self.object("executorch_library", target)
            environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            done = subprocess.run([sys.executable, "-c", code, path], env=environ, capture_output=True, text=True)
            self.assertEqual(done.stdout.strip(), expected, done.stderr)

    def functions(self, path: str) -> set[tuple[str, str | None, bool]]:
        return {
            (symbol.name, symbol.parameters, symbol.is_local)
            for symbol in symbols.read((path,), _NM)
            if not symbol.name.startswith(("ltmp", "@feat"))
        }

    def test_functions(self) -> None:
        expected = self.functions(self.object("kernels", _LINUX))
        self.assertIn(("plain_c", None, False), expected)
        self.assertIn(("my_ops::native::thrice_out", "Context&, Tensor const&, Tensor&", True), expected)
        for target, format_ in ((_WINDOWS, "gnu"), *((macos, "darwin") for macos in _MACOS)):
            for path in (self.object("kernels", target), self.archive("kernels", target, format_)):
                self.assertEqual(self.functions(path), expected, path)
        universal = self.universal([self.object("kernels", target) for target in _MACOS])
        self.assertEqual(self.functions(universal), expected)

    def test_members_of_archives(self) -> None:
        for target, format_ in ((_WINDOWS, "gnu"), (_MACOS[0], "darwin")):
            path = self.archive("kernels", target, format_)
            name = f"{Path(path).name}({Path(self.object('kernels', target)).name})"
            self.assertEqual({symbol.library for symbol in symbols.read((path,), _NM)}, {name})

    def test_exported_functions(self) -> None:
        expected = {each for each in self.functions(self.object("kernels", _LINUX)) if not each[2]}
        for target in _MACOS:
            library = self.library("kernels", target)
            found = self.functions(library)
            self.assertLessEqual(expected, found)
            self.assertFalse([each for each in found if each[2]])
            exported = symbols.exported_names((library,), _NM)
            self.assertLessEqual({"plain_c", "_ZN6my_ops6native5zerosE"}, exported)
            self.assertNotIn("_plain_c", exported)

    def test_undefined_and_demangled_names(self) -> None:
        for target in _MACOS:
            undefined = symbols.undefined_names(self.library("registered_by_hand", target), _NM)
            (name,) = [name for name in undefined if "register_kernels" in name]
            self.assert_starts_with(name, "_ZN10executorch7runtime16register_kernels")
            self.assert_starts_with(undefined[name], "executorch::runtime::register_kernels(")
            demangled = symbols.demangled_names(self.library("kernels", target), _NM)
            self.assertEqual(demangled["_ZN6my_ops6native4usedEv"], "my_ops::native::used()")
            self.assertEqual(demangled["plain_c"], "plain_c")

    def test_functions_of_microsofts_compiler(self) -> None:
        path = self.write("kernels.obj", "")
        self.zig("c++", "-target", "x86_64-windows-msvc", "-std=c++17", "-c", _HERE / "kernels.cpp", "-o", path)
        self.assert_refused(lambda: symbols.read((path,), _NM), "unreadable-symbols kernels.obj")

    def test_image(self) -> None:
        for target in _MACOS:
            path = self.library("kernels", target)
            image = image_reader.read(path)
            named = {symbol.name: (symbol, section) for section in image.sections for symbol in section.symbols}
            table, section = named["_ZN6my_ops6native6kTableE"]
            # A symbol extends to the next one, with the padding.
            self.assertTrue(1000 <= table.size < 1064, table.size)
            self.assertEqual(section.name, "__TEXT,__const")
            self.assertFalse(table.is_local)
            zeros, section = named["_ZN6my_ops6native5zerosE"]
            self.assertTrue(5000 <= zeros.size < 5064, zeros.size)
            self.assertIn(section.name, ("__DATA,__bss", "__DATA,__common"))
            (thrice,) = [symbol for name, (symbol, _) in named.items() if "thrice_out" in name]
            self.assertTrue(thrice.is_local)
            for section in image.sections:
                ends = [symbol.start + symbol.size for symbol in section.symbols]
                self.assertLessEqual(max(ends, default=0), section.size)
            self.assertEqual(image_reader.loaded_bytes(path), sum(section.size for section in image.sections))

    def test_size_report(self) -> None:
        for target in _MACOS:
            path = self.library("executorch_library", target)
            names = Attribution({}, {}, symbols.demangled_names(path, _NM))
            parts = names.parts(image_reader.read(path))
            self.assertEqual(sum(part.bytes for part in parts), image_reader.loaded_bytes(path))
            found = {part.name for part in parts}
            self.assertLessEqual({"__TEXT,__unwind_info: unwinding", "code of its headers and static libraries"}, found)

    def test_files_without_an_image(self) -> None:
        universal = Path(self.universal([self.library("kernels", target) for target in _MACOS])).read_bytes()
        for name, content in (
            ("runner.exe", Path(self.library("kernels", _WINDOWS)).read_bytes()),
            ("runner.obj", Path(self.object("kernels", _WINDOWS)).read_bytes()),
            ("runner_of_two", universal),
            ("cut", Path(self.library("kernels", _MACOS[0])).read_bytes()[:20]),
        ):
            path = self.write(name, content)
            readers: tuple[Callable[[str], object], ...] = (image_reader.read, image_reader.loaded_bytes)
            for read in readers:
                self.assert_refused(functools.partial(read, path), f"unreadable-binary {name}")

    def test_linking(self) -> None:
        for target, machine in zip(_MACOS, ("AArch64", "x86-64"), strict=True):
            path = Path(self.library("kernels", target))
            self.assertEqual(dynamic_linking.read(path), DynamicLinking(machine, ("libSystem.B.dylib",), {}))
        universal = Path(self.universal([self.library("kernels", target) for target in _MACOS]))
        self.assertEqual(dynamic_linking.read(universal), DynamicLinking("AArch64", ("libSystem.B.dylib",), {}))
        path = Path(self.library("kernels", _WINDOWS))
        self.assertEqual(dynamic_linking.read(path), DynamicLinking("x86-64", (), {}))
        self.assertEqual(dynamic_linking.read(Path(self.object("kernels", _WINDOWS))), None)


if __name__ == "__main__":
    # The paths are not absl's.
    absltest.main(argv=sys.argv[:1])
