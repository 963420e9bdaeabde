"""The toolchain types: what generates code (exec), and the runtime and the PyTorch that code is generated for (target)."""

visibility(["//rules/..."])

CODEGEN_TOOLCHAIN_TYPE = Label("//rules:codegen_toolchain_type")
RUNTIME_TOOLCHAIN_TYPE = Label("//rules:runtime_toolchain_type")
TORCH_TOOLCHAIN_TYPE = Label("//rules:torch_toolchain_type")
