"""torch_op_wheel: a wheel of operators for PyTorch."""

load("//rules/private/executorch:executorch_python_wheel.bzl", "executorch_python_wheel")

def torch_op_wheel(name, library, version, platform, requires = ["torch>=2.10"], summary = "Operators for PyTorch", **kwargs):
    """A wheel of a `torch_op_library`: `<distribution>-<version>-py3-none-<platform>.whl`.

    One wheel is for all versions of Python, since a library with the stable ABI is loaded by `torch.ops.load_library` and needs none
    of Python's C API, and for all versions of PyTorch from `torch_target_version`. An import of the module loads the library. The
    build fails if the library does not load on all systems of the platform. The same files give the same wheel.

    Args:
      name: name of the target.
      library: the `<name>_py` of the `torch_op_library`, which has api = "stable".
      version: the version of the package, such as `1.0.0`.
      platform: as in `executorch_python_wheel`.
      requires: the packages that pip installs with the wheel. Default: `torch>=2.10`; give the `torch_target_version`.
      summary: one line that describes the package.
      **kwargs: distribution, python_package, python_requires and the common attributes.
    """
    executorch_python_wheel(
        name = name,
        library = library,
        platform = platform,
        requires = requires,
        summary = summary,
        version = version,
        **kwargs
    )
