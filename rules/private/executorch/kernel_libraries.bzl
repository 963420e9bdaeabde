"""Which dependencies of a library of operators bring kernels."""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//rules/private/providers:et_generated_lib_info.bzl", "EtGeneratedLibInfo")

visibility(["//rules/..."])

def kernel_libraries(kernel_deps, deps):
    """The libraries that kernels are looked for in.

    Args:
      kernel_deps: list[Target], libraries of kernels.
      deps: list[Target], C++ libraries too, among selections and libraries that register their own kernels.
    Returns:
      list[Target]: each once.
    """
    libraries = {target.label: target for target in deps if CcInfo in target and EtGeneratedLibInfo not in target}
    return ({target.label: target for target in kernel_deps} | libraries).values()
