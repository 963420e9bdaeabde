"""Providers, for rules of your own."""

load("//rules/private:et_generated_lib_info.bzl", _EtGeneratedLibInfo = "EtGeneratedLibInfo")
load("//rules/private:et_kernel_info.bzl", _EtKernelInfo = "EtKernelInfo")
load("//rules/private:et_operator_info.bzl", _EtOperatorInfo = "EtOperatorInfo")
load("//rules/private:et_program_info.bzl", _EtProgramInfo = "EtProgramInfo")
load("//rules/private:torch_aoti_package_info.bzl", _TorchAotiPackageInfo = "TorchAotiPackageInfo")
load("//rules/private:torch_op_info.bzl", _TorchOpInfo = "TorchOpInfo")

EtGeneratedLibInfo = _EtGeneratedLibInfo
EtKernelInfo = _EtKernelInfo
EtOperatorInfo = _EtOperatorInfo
EtProgramInfo = _EtProgramInfo
TorchAotiPackageInfo = _TorchAotiPackageInfo
TorchOpInfo = _TorchOpInfo
