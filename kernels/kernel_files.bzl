"""The targets of a folder of kernels, which has a file for each operator."""

load(":copts.bzl", "KERNEL_COPTS")

def kernel_files(et_kernel_library, operator_files, yamls, deps = [], for_instruction_sets = False):
    """A library for each file of kernels, and `:operators` of all of them.

    Args:
      et_kernel_library: the rule, which this folder does not know.
      operator_files: what `operator_file` gives for each file, by the name of its target.
      yamls: the YAMLs that declare the operators.
      deps: libraries of kernels that `:operators` comprises, too.
      for_instruction_sets: whether who links `:operators` has its kernels for several instruction sets.
    """
    native.exports_files(yamls)

    for name, file in operator_files.items():
        et_kernel_library(
            name = name,
            srcs = [name + ".cpp"],
            copts = KERNEL_COPTS,
            links_selected_only = True,
            operators = {name + ".cpp": file.operators},
            deps = ["//kernels/" + dep for dep in file.deps] + ["//kernels/simd"],
        )

    # All of them. A binary that links this library carries only the kernels that are registered in it.
    et_kernel_library(
        name = "operators",
        for_instruction_sets = for_instruction_sets,
        yamls = yamls,
        deps = deps + [":" + name for name in operator_files] + [
            # Not through its users, which are plain libraries: its conversions are selected as well.
            "//kernels/tensors:convert",
        ],
    )
