"""Tests of whom bytes belong to, on sections and symbols that are written here."""

from __future__ import annotations

from absl.testing import absltest

from codegen.binaries import attribution
from codegen.binaries.image import UNWINDING, Image, Section, Symbol
from codegen.model import sizes
from codegen.model.sizes import Part

_ADD = "torch::executor::native::add_out"
_MM = "torch::executor::native::mm_out"
_OPERATORS = {_ADD: ["aten::add.out"], _MM: ["aten::mm.out", "my::mm.out"], "my_kernel": ["my::op.out"]}


def _parts(*symbols: Symbol, size: int = 100, name: str = ".text", sources: tuple[str, ...] = ()) -> list[Part]:
    """The parts of a binary with one section. Names are as they are demangled."""
    attributed = attribution.Attribution(
        _OPERATORS, {"lib_0123abcd": "//app:lib"}, {f"_Z{symbol.name}": symbol.name for symbol in symbols}
    )
    mangled = tuple(
        Symbol(f"_Z{symbol.name}", symbol.start, symbol.size, symbol.is_local, symbol.source) for symbol in symbols
    )
    return list(attributed.parts(Image((Section(name, size, mangled),), sources)))


def _rest(count: int, name: str = ".text: padding, code without symbols") -> Part:
    return Part(sizes.SECTIONS, name, "", count)


def _binary(library: str, *symbols: Symbol, size: int) -> tuple[Image, attribution.Attribution]:
    """A binary with one section, and what its bytes are for."""
    attributed = attribution.Attribution(_OPERATORS, {library: f"//app:{library}"}, {})
    return Image((Section(".text", size, symbols),), ()), attributed


class AddedTest(absltest.TestCase):
    def test_what_is_there_already_adds_nothing(self) -> None:
        first = _binary(
            "lib_1",
            Symbol(f"{_ADD}(int)", 0, 40, False, -1),
            Symbol("lib_1::aten_add_out()", 40, 10, False, -1),
            Symbol("main", 50, 100, False, -1),
            size=150,
        )
        second = _binary(
            "lib_2",
            Symbol(f"{_ADD}(int)", 0, 30, False, -1),
            Symbol("lib_2::aten_add_out()", 30, 10, False, -1),
            Symbol("main", 40, 80, False, -1),
            size=120,
        )
        self.assertEqual(attribution.added(*first, *second), ())

    def test_what_is_new_and_what_is_larger(self) -> None:
        first = _binary("lib_1", Symbol(f"{_ADD}(int)", 0, 40, False, -1), size=45)
        second = _binary(
            "lib_2",
            Symbol(f"{_ADD}(int)", 0, 50, False, -1),
            Symbol(f"{_MM}(int)", 50, 70, False, -1),
            Symbol("lib_2::aten_mm_out()", 120, 5, False, -1),
            size=133,
        )
        self.assertEqual(
            list(attribution.added(*first, *second)),
            [
                Part(sizes.OPERATORS, "aten::add.out", "", 10),
                Part(sizes.OPERATORS, "aten::mm.out, my::mm.out", "", 70),
                Part(sizes.REGISTRATION, "//app:lib_2", "", 5),
                _rest(3),
            ],
        )

    def test_the_runner_of_the_other_binary(self) -> None:
        first = _binary("lib_1", Symbol("app::Server::serve()", 0, 40, False, -1), size=40)
        second = _binary("lib_2", Symbol("main", 0, 40, False, -1), Symbol(f"{_MM}(int)", 40, 70, False, -1), size=110)
        self.assertEqual(
            list(attribution.added(*first, *second)), [Part(sizes.OPERATORS, "aten::mm.out, my::mm.out", "", 70)]
        )

    def test_the_same_name_twice(self) -> None:
        first = _binary("lib", Symbol("std::f()", 0, 10, True, -1), Symbol("std::f()", 10, 10, True, -1), size=20)
        second = _binary("lib", *(Symbol("std::f()", 10 * at, 10, True, -1) for at in range(3)), size=30)
        self.assertEqual(
            list(attribution.added(*first, *second)),
            [Part(sizes.LIBRARIES, "C library and compiler's support", "", 10)],
        )


class SharedCodeTest(absltest.TestCase):
    def _shared(
        self, *symbols: Symbol, references: list[tuple[int, int]]
    ) -> list[tuple[tuple[str, ...], bool, object]]:
        """The shared code of a binary with a section at the address 1000."""
        attributed = attribution.Attribution(_OPERATORS, {"lib": "//app:lib"}, {})
        image = Image((Section(".text", 1000, symbols, 1000),), ())
        found = attributed.shared_code(image, references)
        return [(code.operators, code.is_of_program, code.names) for code in found]

    def test_operators_that_reach_code(self) -> None:
        shared = [
            Symbol(f"rules_executorch::kernels::{name}()", at, 10 + at // 100, False, -1)
            for name, at in (("of_both", 200), ("of_mm", 300), ("behind_mm", 400), ("of_none", 500))
        ]
        symbols = (
            Symbol(f"{_ADD}(int)", 0, 100, False, -1),
            Symbol(f"{_MM}(int)", 100, 100, False, -1),
            *shared,
            Symbol("lib::table", 600, 50, False, -1),
        )
        # The last reference is into a gap, the one before from the registration to a kernel.
        references = [(1010, 1200), (1110, 1205), (1120, 1300), (1305, 1400), (1600, 1000), (1400, 1999)]
        self.assertEqual(
            self._shared(*symbols, references=references),
            [
                (("aten::mm.out", "my::mm.out"), False, (("behind_mm", 14), ("of_mm", 13))),
                ((), False, (("of_none", 15),)),
                (("aten::add.out", "aten::mm.out", "my::mm.out"), False, (("of_both", 12),)),
            ],
        )

    def test_code_that_the_program_uses(self) -> None:
        symbols = (
            Symbol(f"{_ADD}(int)", 0, 100, False, -1),
            Symbol("main", 100, 100, False, -1),
            Symbol("rules_executorch::kernels::parallel_for()", 200, 10, False, -1),
        )
        references = [(1000, 1200), (1100, 1200), (1150, 1000)]
        self.assertEqual(
            self._shared(*symbols, references=references), [(("aten::add.out",), True, (("parallel_for", 10),))]
        )

    def test_entries_of_the_unwind_table(self) -> None:
        function = Symbol("rules_executorch::kernels::copy()", 100, 10, False, -1)
        code = Section(".text", 200, (Symbol(f"{_ADD}(int)", 0, 100, False, -1), function), 1000)
        unwinding = Section(UNWINDING, 40, (Symbol(function.name, 8, 24, False, -1),), 5000)
        attributed = attribution.Attribution(_OPERATORS, {}, {})
        (shared,) = attributed.shared_code(Image((code, unwinding), ()), [(1000, 1100)])
        self.assertEqual((shared.operators, shared.names), (("aten::add.out",), (("copy", 34),)))


class AttributionTest(absltest.TestCase):
    def _assert_owner(self, name: str, group: str, owner: str, dtype: str = "") -> None:
        self.assertEqual(_parts(Symbol(name, 0, 100, False, -1)), [Part(group, owner, dtype, 100)])

    def test_aliases_count_once(self) -> None:
        parts = _parts(Symbol("puts", 0, 40, False, -1), Symbol(f"{_ADD}(int)", 0, 40, False, -1))
        self.assertEqual(parts, [Part(sizes.OPERATORS, "aten::add.out", "", 40), _rest(60)])

    def test_symbols_that_overlap_count_once(self) -> None:
        parts = _parts(
            Symbol(f"{_ADD}(int)", 10, 50, False, -1),
            Symbol(f"{_MM}(int)", 20, 10, False, -1),
            Symbol("std::sort(int)", 40, 40, False, -1),
        )
        self.assertEqual(
            parts,
            [
                Part(sizes.OPERATORS, "aten::add.out", "", 50),
                Part(sizes.LIBRARIES, "C++ library", "", 20),
                _rest(30),
            ],
        )

    def test_symbols_beyond_their_section(self) -> None:
        parts = _parts(Symbol(f"{_ADD}(int)", 90, 1000, False, -1), Symbol(f"{_MM}(int)", -20, 30, False, -1))
        self.assertEqual(
            parts,
            [
                Part(sizes.OPERATORS, "aten::add.out", "", 10),
                Part(sizes.OPERATORS, "aten::mm.out, my::mm.out", "", 10),
                _rest(80),
            ],
        )

    def test_symbols_name_nothing_in_sections_of_the_linker(self) -> None:
        parts = _parts(Symbol("_GLOBAL_OFFSET_TABLE_", 0, 100, True, -1), name=".got.plt")
        self.assertEqual(parts, [_rest(100, ".got.plt: addresses in shared libraries")])

    def test_owners(self) -> None:
        operators, shared = sizes.OPERATORS, sizes.SHARED_KERNEL_CODE
        self._assert_owner(f"{_ADD}(int) [clone .cold]", operators, "aten::add.out")
        self._assert_owner("my_kernel", operators, "my::op.out")
        # A template of what kernels share belongs to the kernel whose lambda it is made for.
        self._assert_owner(
            f"void rules_executorch::kernels::elementwise<float, {_ADD}(int)::{{lambda(float)#1}}>(int)",
            operators,
            "aten::add.out",
            "Float",
        )
        self._assert_owner(f"{_ADD}put(int)", shared, "kernels' code of no single operator")
        self._assert_owner("rules_executorch::kernels::internal::add<c10::Half>(int)", shared, "add", "Half")
        self._assert_owner(f"lib_0123abcd::wrap<&{_ADD}>(int)", sizes.REGISTRATION, "//app:lib")
        self._assert_owner("void std::sort<rules_executorch::Sample*>(int)", sizes.RUNNER, "Sample")
        self._assert_owner(
            "executorch::runtime::Method::run()", sizes.RUNTIME, "code of its headers and static libraries"
        )
        self._assert_owner("vtable for std::exception", sizes.LIBRARIES, "C++ library")
        self._assert_owner("app::Server::serve(int)", sizes.OTHER_CODE, "app::Server::serve")

    def test_what_a_file_has_to_itself(self) -> None:
        helper = "torch::executor::native::(anonymous namespace)::helper<double>(int)"
        named = Symbol(f"{_MM}(int)::op_name", 20, 10, True, 1)
        sources = ("kernels_portable_op_add.cpp", "products.cpp", "else.cpp")
        for source, owner in enumerate(["aten::add.out", "aten::mm.out, my::mm.out"]):
            parts = _parts(Symbol(helper, 0, 20, True, source), named, sources=sources)
            self.assertIn(Part(sizes.OPERATORS, owner, "Double", 20), parts)
        parts = _parts(Symbol(helper, 0, 20, True, 2), sources=sources)
        self.assertIn(Part(sizes.SHARED_KERNEL_CODE, "kernels' code of no single operator", "Double", 20), parts)

    def test_object_files_of_an_instruction_set(self) -> None:
        # All symbols of such a file became local, those of all its source files after the last one's name.
        parts = _parts(
            Symbol(f"{_ADD}(int)", 0, 10, True, 0),
            Symbol("rules_executorch::kernels::LoopNest::run()", 10, 20, True, 0),
            Symbol("lib_0123abcd::aten_add_out(int)", 30, 10, True, 0),
            sources=("kernels_portable_op_mm.cpp",),
        )
        self.assertEqual(
            parts,
            [
                Part(sizes.OPERATORS, "aten::add.out", "", 10),
                Part(sizes.SHARED_KERNEL_CODE, "LoopNest", "", 20),
                Part(sizes.REGISTRATION, "//app:lib", "", 10),
                _rest(60),
            ],
        )

    def test_dtypes(self) -> None:
        for text, expected in {
            "void f<float>(float)": "Float",
            "void f<double, 1, long>()": "Double, Long",
            "void f<unsigned char, c10::BFloat16>(int)": "BFloat16, Byte",
            "void f<std::vector<float> >(int)": "",
            "void f<float const*>(std::array<int, 3>)": "",
            f"{_ADD}(executorch::runtime::ArrayRef<long>)": "",
            "auto f(int)::{lambda(auto:1)#1}::operator()<short>(short) const": "Short",
            "f<int": "Int",
        }.items():
            self.assertEqual(attribution.dtypes(text), expected, text)


if __name__ == "__main__":
    absltest.main()
