"""et_operator_library: selects operators from lists, models and other selections."""

load("//rules/private/executorch:et_operator_library.bzl", _et_operator_library = "et_operator_library")

et_operator_library = _et_operator_library
