"""Rule newer_py_library, a stand-in for the py_library of newer versions of rules_python."""

load("@rules_python//python:py_info.bzl", "PyInfo")

def _newer_py_library_impl(ctx):
    return [
        DefaultInfo(files = depset(ctx.files.srcs)),
        PyInfo(transitive_sources = depset(ctx.files.srcs)),
    ]

newer_py_library = rule(
    doc = "As py_library since rules_python 0.37: the runfiles lack the sources, which only PyInfo has.",
    implementation = _newer_py_library_impl,
    attrs = {"srcs": attr.label_list(allow_files = [".py"])},
    provides = [PyInfo],
)
