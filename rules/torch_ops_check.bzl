"""torch_ops_check: checks that one process can load operator libraries. torch_ops_check_aspect: the same for each built target."""

load(
    "//rules/private/torch:torch_ops_check.bzl",
    _torch_ops_check = "torch_ops_check",
    _torch_ops_check_aspect = "torch_ops_check_aspect",
)

torch_ops_check = _torch_ops_check
torch_ops_check_aspect = _torch_ops_check_aspect
