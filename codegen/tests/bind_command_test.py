from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from absl.testing import absltest

from codegen.tests import case

_TENSOR = "executorch::runtime::etensor::Tensor"
_CONTEXT = "executorch::runtime::KernelRuntimeContext&"
_PLAIN = f"{_TENSOR} const&, {_TENSOR}&"
_WITH_CONTEXT = f"{_CONTEXT}, {_PLAIN}"
_SCHEMA = "my_ops::mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)"
# Where the YAML names the kernel.
_UNDEFINED = "undefined-kernel ops/custom_ops.yaml:5:20"


class BindCommandTest(case.TestCase):
    """Runs against an nm that prints what the test says; //codegen/tests/all_types runs against the real one."""

    def _manifest(self, schema: str = _SCHEMA, kernel: str = "a::native::mul3_out") -> str:
        operator = {
            "schema": schema,
            "location": ["ops/custom_ops.yaml", 2, 9],
            "kernels": [{"function": kernel, "keys": ["default"], "location": ["ops/custom_ops.yaml", 5, 20]}],
        }
        content = {"label": "//ops:lib", "yaml_names": ["custom_ops.yaml"], "operators": [operator]}
        return self.write("registered.json", json.dumps(content))

    def _bind(
        self,
        *symbols: str,
        schema: str = _SCHEMA,
        library: str = "bazel-out/x/libops.a",
        arguments: Sequence[str] = (),
    ) -> str:
        """The adapters for libraries in which nm finds these symbols, each `<letter> <name>`."""
        member = ":op.o" if library.endswith(".a") else ""
        listing = self.write("listing", "".join(f"{library}{member}:0000000000000010 {symbol}\n" for symbol in symbols))
        nm = self.write("nm", f"#!/bin/sh\necho \"$@\" > '{self.directory}/arguments'\ncat '{listing}'\n")
        Path(nm).chmod(0o755)
        output = str(self.directory / "KernelAdapters.cpp")
        self.run_command(
            "bind",
            f"--manifest={self._manifest(schema)}",
            f"--nm={nm}",
            f"--library={library}",
            f"--output={output}",
            *arguments,
        )
        return Path(output).read_text()

    def _assert_undefined(self, *symbols: str) -> None:
        self.assert_refused(lambda: self._bind(*symbols), _UNDEFINED)

    def test_kernel_with_a_context(self) -> None:
        for letter in "TWi":
            self.assertIn("nothing to adapt", self._bind(f"{letter} a::native::mul3_out({_WITH_CONTEXT})"))

    def test_kernel_with_both_forms(self) -> None:
        symbols = (f"T a::native::mul3_out({_WITH_CONTEXT})", f"T a::native::mul3_out({_PLAIN})")
        self.assertIn("nothing to adapt", self._bind(*symbols))

    def test_kernel_without_a_context(self) -> None:
        adapters = self._bind(f"T a::native::mul3_out({_PLAIN})")
        self.assert_starts_with(adapters, "// Adapts the kernels without a context of //ops:lib.\n")
        self.assertIn(
            f"""
namespace a::native {{

// {_SCHEMA}
executorch::aten::Tensor& mul3_out(const executorch::aten::Tensor& input, executorch::aten::Tensor& output);
ET_WEAK executorch::aten::Tensor& mul3_out(
    executorch::runtime::KernelRuntimeContext&,
    const executorch::aten::Tensor& input,
    executorch::aten::Tensor& output) {{
  return ::a::native::mul3_out(input, output);
}}

}}  // namespace a::native
""",
            adapters,
        )

    def test_other_spellings_of_demanglers(self) -> None:
        schema = "my_ops::f.out(int[] n, str? s, *, Tensor(a!) out) -> Tensor(a!)"
        for array, optional in (
            ("ArrayRef<long>", "std::optional<std::basic_string_view<char, std::char_traits<char> > >"),
            *(
                (
                    "ArrayRef<long long>",
                    f"{libcxx}optional<{libcxx}basic_string_view<char, {libcxx}char_traits<char>>>",
                )
                for libcxx in ("std::__1::", "std::__2::")
            ),
        ):
            symbol = f"T a::native::mul3_out({_CONTEXT}, executorch::runtime::{array}, {optional}, {_TENSOR}&)"
            self.assertIn("nothing to adapt", self._bind(symbol, schema=schema))

    def test_shared_libraries_are_asked_for_what_they_export(self) -> None:
        self._bind(f"T a::native::mul3_out({_PLAIN})", library="lib/libops.so.1")
        self.assertIn("--dynamic lib/libops.so.1", (self.directory / "arguments").read_text())
        self._bind(f"T a::native::mul3_out({_PLAIN})", library="op.pic.o")
        self.assertNotIn("--dynamic", (self.directory / "arguments").read_text())

    def test_defined_nowhere(self) -> None:
        self._assert_undefined("T unrelated::other_thing(int)", "D a::native::mul3_out", "T main")

    def test_other_parameter(self) -> None:
        self._assert_undefined(f"T a::native::mul3_out({_CONTEXT}, {_TENSOR} const&, int, {_TENSOR}&)")

    def test_missing_parameter(self) -> None:
        self._assert_undefined(f"T a::native::mul3_out({_TENSOR} const&)")

    def test_namespace_without_native(self) -> None:
        self._assert_undefined(f"T a::mul3_out({_PLAIN})")

    def test_other_namespace(self) -> None:
        self._assert_undefined(f"T b::native::mul3_out({_PLAIN})")

    def test_similar_name(self) -> None:
        self._assert_undefined(f"T a::native::mull3_out({_PLAIN})", "T a::native::add_out(int)")

    def test_local_kernels(self) -> None:
        for symbol in (f"t a::native::mul3_out({_PLAIN})", f"t a::native::(anonymous namespace)::mul3_out({_PLAIN})"):
            self._assert_undefined(symbol)

    def test_c_linkage(self) -> None:
        self._assert_undefined("T mul3_out")

    def test_no_libraries(self) -> None:
        output = str(self.directory / "KernelAdapters.cpp")
        self.assert_refused(
            lambda: self.run_command("bind", f"--manifest={self._manifest()}", "--nm=nm", f"--output={output}"),
            _UNDEFINED,
        )

    def test_attribute(self) -> None:
        """Another rule has its kernels in another attribute."""
        self.assert_refused(
            lambda: self._bind("T unrelated::other_thing(int)", arguments=("--attribute=kernels",)), _UNDEFINED
        )

    def test_libraries_that_are_not_linked(self) -> None:
        arguments = ("--left_out=//kernels/portable:operators",)
        self.assert_refused(lambda: self._bind("T unrelated::other_thing(int)", arguments=arguments), _UNDEFINED)

    def test_link_time_optimization(self) -> None:
        self.assert_refused(lambda: self._bind("C __gnu_lto_slim"), "link-time-optimization libops.a(op.o)")

    def test_nm_fails(self) -> None:
        nm = self.write("nm", "#!/bin/sh\necho 'nm: ops.o: file format not recognized' >&2\nexit 1\n")
        Path(nm).chmod(0o755)
        for tool, place in ((nm, "nm"), ("no/such/nm", "no/such/nm")):
            arguments = (f"--manifest={self._manifest()}", f"--nm={tool}", "--library=ops.o", "--output=unused")
            self.assert_refused(
                lambda arguments=arguments: self.run_command("bind", *arguments),  # type: ignore[misc]
                f"unreadable-symbols {place}",
            )

    def test_no_manifest(self) -> None:
        manifest = self.write("registered.json", "{}")
        arguments = (f"--manifest={manifest}", "--nm=nm", "--output=unused")
        self.assert_refused(lambda: self.run_command("bind", *arguments), "wrong-artifact registered.json")


if __name__ == "__main__":
    absltest.main()
