"""The targets of a folder of kernels with a file for each operator."""

load(":copts.bzl", "KERNEL_COPTS")

def kernel_files(et_kernel_library, operator_files, yamls, deps = [], for_instruction_sets = False):
    """Defines a library for each file of kernels, and `:operators` with all of them.

    Args:
      et_kernel_library: the rule. A parameter, so that this folder does not load it.
      operator_files: the result of `operator_file` for each file, by the name of the file's target.
      yamls: the YAMLs that declare the operators.
      deps: other libraries of kernels that are a part of `:operators`.
      for_instruction_sets: whether binaries that link `:operators` have its kernels for several instruction sets.
    """
    native.exports_files(yamls)

    for name, file in operator_files.items():
        et_kernel_library(
            name = name,
            srcs = [name + ".cpp"],
            copts = KERNEL_COPTS,
            links_selected_only = True,
            operators = {name + ".cpp": file.operators},
            # `:operators` compiles the file, too, so that //... does not.
            tags = ["manual"],
            unity_build = True,
            deps = ["//kernels/" + dep for dep in file.deps] + ["//kernels/simd"],
        )

    # All kernels. A binary that links this library only has the kernels that are registered in the binary.
    et_kernel_library(
        name = "operators",
        srcs = [name + ".cpp" for name in operator_files],
        copts = KERNEL_COPTS,
        for_instruction_sets = for_instruction_sets,
        links_selected_only = True,
        operators = {name + ".cpp": file.operators for name, file in operator_files.items()},
        unity_build = True,
        yamls = yamls,
        deps = deps + [
            "//kernels/" + dep
            for dep in {dep: None for file in operator_files.values() for dep in file.deps + ["simd", "tensors:convert"]}
        ],
    )
