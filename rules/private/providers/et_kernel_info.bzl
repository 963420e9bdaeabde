"""Provider of kernels."""

visibility(["//rules/..."])

def _init(*, sources, declared_operators = depset()):
    fields = {"declared_operators": declared_operators, "sources": sources}
    for name, value in fields.items():
        if type(value) != "depset":
            fail("EtKernelInfo.{}: expected a depset, got a {}".format(name, type(value)))
    return fields

EtKernelInfo, _new_et_kernel_info = provider(
    doc = "Which file of an `et_kernel_library` implements which operators, how to compile it once more, and what it declares.",
    fields = {
        "declared_operators": "depset[File]: one JSON file a library with declares_operators: schemas, kernels, places in C++.",
        "sources": """depset[struct(file: File, operators: tuple[str], compilation_context: CompilationContext, copts: tuple[str],
defines: tuple[str])]: e.g. op_add.cpp and ("aten::add.out", "aten::add.Scalar_out"), with the library's headers, options and
definitions. No operators: what operators share.""",
    },
    init = _init,
)

def declared_operators(deps):
    """The operators that kernel libraries declare in C++.

    Args:
      deps: list[Target].
    Returns:
      list[File]
    """
    return depset(transitive = [dep[EtKernelInfo].declared_operators for dep in deps if EtKernelInfo in dep]).to_list()
