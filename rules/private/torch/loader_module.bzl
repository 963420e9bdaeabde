"""The name of the Python module that loads an operator library."""

visibility(["//rules/..."])

def loader_module(name):
    """The module's file, for a library's name: Python imports no name with a hyphen."""
    return name.replace("-", "_") + ".py"
