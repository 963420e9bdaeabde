"""Compiled programs link for another platform, and need its C and C++ library only. The programs are not run."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import re

import lief
from absl.testing import absltest

_PLATFORM = os.environ["PLATFORM"]
_PROGRAMS = os.environ["PROGRAMS"].split()
_MAC_LIBRARIES = ("/usr/lib/libSystem.B.dylib", "/usr/lib/libc++.1.dylib")
# What the C++ library of Android and the library of its compiler have.
_CPP_LIBRARY = re.compile(
    r"_ZNK?St3__1|_ZdlPvm$|_ZTVN10__cxxabiv1|__aarch64_ldadd|__cxa_|__gxx_personality_v0$|_Unwind_Resume$"
)
_WEAK = lief.ELF.Symbol.BINDING.WEAK


class LinkedTest(absltest.TestCase):
    def test_undefined_symbols(self) -> None:
        """Each is one of the C library or of the C++ library, and none is weak, which no format but ELF has."""
        for program in _PROGRAMS:
            with self.subTest(program):
                names = self._of_android(program) if _PLATFORM == "android" else self._of_mac(program)
                self.assertIn("memcpy", names)

    def _of_mac(self, program: str) -> list[str]:
        """Returns the names of the symbols that a program for macOS or iOS needs."""
        file = lief.MachO.parse(program)
        assert file is not None
        (binary,) = file
        self.assertEqual(binary.header.cpu_type, lief.MachO.Header.CPU_TYPE.ARM64)
        assert binary.build_version is not None
        platform = getattr(lief.MachO.BuildVersion.PLATFORMS, _PLATFORM.upper())
        self.assertEqual(binary.build_version.platform, platform)
        names = []
        for symbol in binary.imported_symbols:
            info = symbol.binding_info
            assert info is not None and info.library is not None, symbol.name
            self.assertIn(info.library.name, _MAC_LIBRARIES)
            self.assertFalse(info.weak_import, symbol.name)
            names.append(str(symbol.name).removeprefix("_"))
        return names

    def _of_android(self, program: str) -> list[str]:
        """Returns the names of the symbols that a program for Android needs."""
        binary = lief.ELF.parse(program)
        assert binary is not None
        self.assertEqual(binary.header.machine_type, lief.ELF.ARCH.AARCH64)
        # The C library of this machine stands for that of Android.
        libraries = [ctypes.CDLL(ctypes.util.find_library(name)) for name in ("c", "m")]
        undefined = [symbol for symbol in binary.dynamic_symbols if symbol.name and symbol.shndx == 0]
        for symbol in undefined:
            name = str(symbol.name)
            if not any(hasattr(library, name) for library in libraries):
                self.assertRegex(name, _CPP_LIBRARY)
            self.assertNotEqual(symbol.binding, _WEAK, name)
        return [str(symbol.name) for symbol in undefined]


if __name__ == "__main__":
    absltest.main()
