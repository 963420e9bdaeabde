"""torch_ops_check: operator libraries that one process can load."""

load("//rules/private:torch_ops_check.bzl", _torch_ops_check = "torch_ops_check")

torch_ops_check = _torch_ops_check
