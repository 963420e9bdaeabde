"""torch_op_wheel: a wheel of operators for PyTorch."""

load("//rules/private/executorch:torch_op_wheel.bzl", _torch_op_wheel = "torch_op_wheel")

def torch_op_wheel(
        name,
        library,
        version,
        platform,
        requires = [],
        summary = "Operators for PyTorch",
        distribution = "",
        python_package = "",
        python_requires = ">=3.10",
        visibility = None,
        testonly = None,
        tags = [],
        compatible_with = None,
        target_compatible_with = None):
    """A wheel of a `torch_op_library`: `<distribution>-<version>-py3-none-<platform>.whl`.

    One wheel is for all versions of Python, since a library with the stable ABI is loaded by `torch.ops.load_library` and needs none
    of Python's C API, and for all versions of PyTorch from `torch_target_version`. An import of the module loads the library. The
    build fails if the library does not load on all systems of the platform. The same files give the same wheel.

    Args:
      name: name of the target.
      library: the `<name>_py` of the `torch_op_library`, which has api = "stable".
      version: the version of the package, such as `1.0.0`.
      platform: as in `executorch_python_wheel`.
      requires: the packages that pip installs with the wheel. Default: PyTorch from the library's
        `torch_target_version` on, such as `torch>=2.10`.
      summary: one line that describes the package.
      distribution: the name for pip. Default: the name of the library, without `_py`.
      python_package: as in `executorch_python_wheel`.
      python_requires: the versions of Python. Default: `>=3.10`.
      visibility: visibility of the target.
      testonly: whether only tests may use the target.
      tags: tags of the target.
      compatible_with: environments of the target.
      target_compatible_with: constraints of the target.
    """
    library = native.package_relative_label(library)
    _torch_op_wheel(
        name = name,
        compatible_with = compatible_with,
        distribution = distribution,
        library = library,
        platform = platform,
        python_package = python_package,
        python_requires = python_requires,
        requires = requires,
        summary = summary,
        tags = tags,
        target_compatible_with = target_compatible_with,
        testonly = testonly,
        torch_library = library.same_package_label(library.name.removesuffix("_py")),
        version = version,
        visibility = visibility,
    )
