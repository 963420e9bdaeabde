"""Writes C++ that passes each function of generated headers to a test: see functions_test.h.

    list_functions OUTPUT HEADER...

The output links if all these functions are defined.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Namespaces with a `::`. The others are those of helpers of the library.
_NAMESPACE = re.compile(r"^namespace (\w+(?:::\w+)+) \{\n(.*?)^\}  // namespace \1$", re.MULTILINE | re.DOTALL)
_FUNCTION = re.compile(r"^(inline )?([\w:<>&, ]+?) (\w+)\(([^()]*)\)(?:;| \{)$", re.MULTILINE)


def _blocks(header: Path) -> Iterator[tuple[str, str]]:
    """The functions that a header declares in each namespace, as statements."""
    for namespace, body in _NAMESPACE.findall(header.read_text()):
        statements = ""
        for inline, result, name, parameters in _FUNCTION.findall(body):
            kind = "function" if inline else "kernel"
            pointer = f"static_cast<{result} (*)({parameters})>(&{name})"
            statements += f'  functions_test::visit_{kind}("{namespace}::{name}", {pointer});\n'
        yield namespace, statements


def main() -> None:
    output, *headers = sys.argv[1:]
    # The paths in #include lines are relative to the folder of generated files.
    includes = [re.sub(r"^bazel-out/[^/]+/bin/", "", header) for header in headers]
    text = "".join(f'#include "{include}"\n' for include in [*includes, "kernels/testing/cpp_api/functions_test.h"])
    calls = ""
    for i, (namespace, statements) in enumerate(block for header in headers for block in _blocks(Path(header))):
        text += f"\nnamespace {namespace} {{\nstatic void visit_{i}() {{\n{statements}}}\n}}\n"
        calls += f"  {namespace}::visit_{i}();\n"
    Path(output).write_text(f"{text}\nvoid functions_test::visit_all() {{\n{calls}}}\n")


if __name__ == "__main__":
    main()
