"""The dtypes of ExecuTorch's runtime, for `ops_dict = {"aten::add.out": [ScalarType.Half]}`.

The dtypes have the names of the runtime's `ScalarType`.
"""

load("//rules/private/executorch:scalar_type.bzl", _ScalarType = "ScalarType")

# buildifier: disable=name-conventions
ScalarType = _ScalarType
