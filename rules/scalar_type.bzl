"""The dtypes of ExecuTorch's runtime, for `ops_dict = {"aten::add.out": [ScalarType.Half]}`.

A dtype has the name that the runtime's `ScalarType` gives it.
"""

load("//rules/private/executorch:scalar_type.bzl", _ScalarType = "ScalarType")

# buildifier: disable=name-conventions
ScalarType = _ScalarType
