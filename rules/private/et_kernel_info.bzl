"""Provider of kernels."""

visibility(["//rules/..."])

def _init(*, sources):
    if type(sources) != "depset":
        fail("EtKernelInfo.sources: expected a depset, got a {}".format(type(sources)))
    return {"sources": sources}

EtKernelInfo, _new_et_kernel_info = provider(
    doc = "Which file of an `et_kernel_library` implements which operators, and how to compile it once more.",
    fields = {
        "sources": """depset[struct(file: File, operators: tuple[str], compilation_context: CompilationContext, copts: tuple[str],
defines: tuple[str])]: e.g. op_add.cpp and ("aten::add.out", "aten::add.Scalar_out"), with the library's headers, options and
definitions. No operators: what operators share.""",
    },
    init = _init,
)
