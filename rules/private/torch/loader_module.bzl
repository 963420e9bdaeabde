"""The Python module that loads an operator library."""

load("@rules_python//python:defs.bzl", "py_library")

visibility(["//rules/..."])

def loader_module(name):
    """The module's file, for a library's name: Python imports no name with a hyphen."""
    return name.replace("-", "_") + ".py"

def loader_library(name, **kwargs):
    """The py_library `<name>_py` of the module that loads an operator library.

    Args:
      name: str, the name of the operator library.
      **kwargs: common attributes.
    """
    py_library(
        name = name + "_py",
        srcs = [loader_module(name)],
        data = [":" + name],
        deps = [Label("@executorch_python//:torch")],
        **kwargs
    )
