"""Finds the kernel libraries among the dependencies of an operator library."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules/private/providers:et_generated_lib_info.bzl", "EtGeneratedLibInfo")

visibility(["//rules/..."])

def kernel_libraries(kernel_deps, deps):
    """Returns the libraries that may define kernels.

    Args:
      kernel_deps: list[Target], kernel libraries.
      deps: list[Target], C++ libraries, selections, and libraries that register their own kernels.
    Returns:
      list[Target]: each once.
    """
    libraries = {target.label: target for target in deps if CcInfo in target and EtGeneratedLibInfo not in target}
    return ({target.label: target for target in kernel_deps} | libraries).values()
