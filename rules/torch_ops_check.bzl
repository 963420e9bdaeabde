"""torch_ops_check: operator libraries that one process can load; torch_ops_check_aspect: the same for whatever is built."""

load(
    "//rules/private/torch:torch_ops_check.bzl",
    _torch_ops_check = "torch_ops_check",
    _torch_ops_check_aspect = "torch_ops_check_aspect",
)

torch_ops_check = _torch_ops_check
torch_ops_check_aspect = _torch_ops_check_aspect
