"""executorch_python_library: a program as a Python module."""

load("@rules_python//python:defs.bzl", "py_library")
load("//rules/private/executorch:executorch_python_library.bzl", "FILES_SUFFIX", "executorch_python_extension")

def executorch_python_library(
        name,
        program,
        weights = None,
        deps = [],
        imports = [],
        python_deps = None,
        linkopts = [],
        data = [],
        visibility = None,
        testonly = None,
        tags = [],
        compatible_with = None,
        target_compatible_with = None):
    """A program as a Python module, as `<name>`, a py_library.

    The module has a function for each method of the program, which takes and returns NumPy arrays. Tensors of other libraries in
    the memory of the CPU (DLPack) are inputs, too. PyTorch is not needed. [The page of the rule](python_library.md) describes the
    module.

    The library has the program, the kernels of `deps` and the runtime. The build fails if two libraries of `deps` register the same
    kernel, or if the program needs an operator or a dtype that no library registers. A process may have several such modules: no
    module sees the kernels of another one.

    Linux only: the library is an ELF file.

    Args:
      name: name of the module, a Python identifier. The module is `<package>.<name>`; with imports = ["."], `<name>`.
      program: an `executorch_program` or a .pte file.
      weights: the constants that the program does not have, as in `executorch_binary`. The module has all files. Default: the file of
        the program, if it was exported with `weights = "external"`.
      deps: libraries that register operators: `executorch_generated_lib`, such as the `<name>_lib` of an `executorch_model`, or any
        C++ library; and the libraries of backends, such as `//runtime:backend_xnnpack`.
      imports: folders for the import path of Python, as in `py_library`.
      python_deps: Python libraries of the module: NumPy of your workspace, such as `["@pip//numpy"]`, or none for an environment that
        has NumPy. Default: the NumPy of the packages for exports.
      linkopts: options for the linker.
      data: runfiles of the library.
      visibility: visibility of all targets.
      testonly: whether only tests may use the targets.
      tags: tags of all targets.
      compatible_with: environments of all targets.
      target_compatible_with: constraints of all targets.
    """
    common = dict(
        visibility = visibility,
        testonly = testonly,
        tags = tags,
        compatible_with = compatible_with,
        target_compatible_with = target_compatible_with,
    )
    executorch_python_extension(
        name = name + FILES_SUFFIX,
        data = data,
        linkopts = linkopts,
        module = name + ".py",
        program = program,
        stub = name + ".pyi",
        weights = weights,
        deps = deps,
        **common
    )
    py_library(
        name = name,
        srcs = [name + ".py"],
        data = [":" + name + FILES_SUFFIX],
        imports = imports,
        deps = [Label("@executorch_python//:numpy")] if python_deps == None else python_deps,
        **common
    )
