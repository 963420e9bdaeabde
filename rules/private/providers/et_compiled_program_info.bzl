"""Provider of a compiled program."""

visibility(["//rules/..."])

EtCompiledProgramInfo = provider(
    doc = "A program as C++.",
    fields = {
        "compiled": """struct: what the generated test of the program needs: label_text, cpp_namespace, include (the include path of the
header), program (EtProgramInfo), program_name, library (EtGeneratedLibInfo), native_functions and typed_kernels (include paths; the latter may be None).""",
    },
)
