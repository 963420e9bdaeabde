"""et_operator_library: selects operators from lists, models and other selections."""

load("//rules/private:et_operator_library.bzl", _et_operator_library = "et_operator_library")

def et_operator_library(name, include_all_operators = False, include_all_ops = False, **kwargs):
    """A selection of operators. See the rule of the same name in docs/rules.md.

    Args:
      name: name of the target.
      include_all_operators: select whatever the library's YAMLs provide.
      include_all_ops: the same, under the name that ExecuTorch's guides use.
      **kwargs: ops, model, models, deps and the common attributes.
    """
    _et_operator_library(
        name = name,
        include_all_operators = include_all_operators or include_all_ops,
        **kwargs
    )
