"""ScalarType: the dtypes of ExecuTorch's runtime by name, for ops_dict."""

load("//rules/private/executorch:scalar_type.bzl", _ScalarType = "ScalarType")

# buildifier: disable=name-conventions
ScalarType = _ScalarType
