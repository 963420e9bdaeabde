"""The Python module that loads an operator library."""

load("@rules_python//python:defs.bzl", "py_library")

visibility(["//rules/..."])

def loader_module(name):
    """Returns the file of the module for a library's name, with a valid Python module name."""
    folders, slash, base = name.rpartition("/")
    module = "".join([c if c.isalnum() else "_" for c in base.elems()])
    return folders + slash + ("_" if module[0].isdigit() else "") + module + ".py"

def loader_library(name, **kwargs):
    """Declares the py_library `<name>_py` with the module that loads an operator library.

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
