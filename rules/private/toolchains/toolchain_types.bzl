"""The toolchain types: the code generator and the tools' Python (exec), and the headers, the runtime and PyTorch for which code is generated (target)."""

visibility(["//rules/..."])

CODEGEN_TOOLCHAIN_TYPE = Label("//rules:codegen_toolchain_type")
HEADERS_TOOLCHAIN_TYPE = Label("//rules:headers_toolchain_type")
PYTHON_TOOLCHAIN_TYPE = Label("//rules:python_toolchain_type")
RUNTIME_TOOLCHAIN_TYPE = Label("//rules:runtime_toolchain_type")
TORCH_TOOLCHAIN_TYPE = Label("//rules:torch_toolchain_type")
