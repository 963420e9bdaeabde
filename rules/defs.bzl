"""All rules. Load the rules from this file."""

load("//rules/private/executorch:et_kernel_library.bzl", _et_kernel_library = "et_kernel_library")
load("//rules/private/executorch:et_size_report.bzl", _et_size_report = "et_size_report")
load("//rules/private/executorch:executorch_backend.bzl", _executorch_backend = "executorch_backend")
load("//rules/private/executorch:executorch_bundle.bzl", _executorch_bundle = "executorch_bundle")
load("//rules/private/executorch:executorch_compiled_program.bzl", _executorch_compiled_program = "executorch_compiled_program")
load("//rules/private/executorch:executorch_ops_check.bzl", _executorch_ops_check = "executorch_ops_check")
load("//rules/private/executorch:executorch_prebuilt_kernels.bzl", _executorch_prebuilt_kernels = "executorch_prebuilt_kernels")
load("//rules/private/executorch:executorch_program.bzl", _executorch_program = "executorch_program")
load("//rules/private/toolchains:codegen_toolchain.bzl", _executorch_codegen_toolchain = "executorch_codegen_toolchain")
load("//rules/private/toolchains:runtime_component.bzl", _executorch_runtime_component = "executorch_runtime_component")
load("//rules/private/toolchains:runtime_toolchain.bzl", _executorch_runtime_toolchain = "executorch_runtime_toolchain")
load("//rules/private/toolchains:torch_component.bzl", _executorch_torch_component = "executorch_torch_component")
load("//rules/private/toolchains:torch_toolchain.bzl", _executorch_torch_toolchain = "executorch_torch_toolchain")
load("//rules/private/torch:torch_aoti_binary.bzl", _torch_aoti_binary = "torch_aoti_binary")
load("//rules/private/torch:torch_aoti_package.bzl", _torch_aoti_package = "torch_aoti_package")
load(
    ":compatibility.bzl",
    _et_operator_library = "et_operator_library",
    _executorch_generated_lib = "executorch_generated_lib",
    _executorch_model = "executorch_model",
    _exir_custom_ops_aot_lib = "exir_custom_ops_aot_lib",
)
load(":executorch_binary.bzl", _executorch_binary = "executorch_binary")
load(":executorch_compiled_program_test.bzl", _executorch_compiled_program_test = "executorch_compiled_program_test")
load(":executorch_custom_ops_aot_lib.bzl", _executorch_custom_ops_aot_lib = "executorch_custom_ops_aot_lib")
load(":executorch_program_test.bzl", _executorch_program_test = "executorch_program_test")
load(":executorch_python_library.bzl", _executorch_python_library = "executorch_python_library")
load(":qnn_op_package.bzl", _qnn_op_package = "qnn_op_package")
load(":scalar_type.bzl", _ScalarType = "ScalarType")
load(":torch_aoti_test.bzl", _torch_aoti_test = "torch_aoti_test")
load(":torch_op_library.bzl", _torch_op_library = "torch_op_library")
load(":torch_op_test.bzl", _torch_op_test = "torch_op_test")
load(":torch_ops_check.bzl", _torch_ops_check = "torch_ops_check")

# buildifier: disable=name-conventions
ScalarType = _ScalarType
et_kernel_library = _et_kernel_library
et_operator_library = _et_operator_library
et_size_report = _et_size_report
executorch_backend = _executorch_backend
executorch_binary = _executorch_binary
executorch_bundle = _executorch_bundle
executorch_codegen_toolchain = _executorch_codegen_toolchain
executorch_compiled_program = _executorch_compiled_program
executorch_compiled_program_test = _executorch_compiled_program_test
executorch_custom_ops_aot_lib = _executorch_custom_ops_aot_lib
executorch_generated_lib = _executorch_generated_lib
executorch_model = _executorch_model
executorch_ops_check = _executorch_ops_check
executorch_prebuilt_kernels = _executorch_prebuilt_kernels
executorch_program = _executorch_program
executorch_program_test = _executorch_program_test
executorch_python_library = _executorch_python_library
executorch_runtime_component = _executorch_runtime_component
executorch_runtime_toolchain = _executorch_runtime_toolchain
executorch_torch_component = _executorch_torch_component
executorch_torch_toolchain = _executorch_torch_toolchain
qnn_op_package = _qnn_op_package
torch_aoti_binary = _torch_aoti_binary
torch_aoti_package = _torch_aoti_package
torch_aoti_test = _torch_aoti_test
torch_op_library = _torch_op_library
torch_op_test = _torch_op_test
torch_ops_check = _torch_ops_check
exir_custom_ops_aot_lib = _exir_custom_ops_aot_lib
