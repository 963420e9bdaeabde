"""The Python module that loads an operator library."""

load("@rules_python//python:defs.bzl", "py_library")

visibility(["//rules/..."])

def loader_module(name):
    """The module's file, for a library's name: Python imports what is a name of Python."""
    folders, slash, base = name.rpartition("/")
    module = "".join([c if c.isalnum() else "_" for c in base.elems()])
    return folders + slash + ("_" if module[0].isdigit() else "") + module + ".py"

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
