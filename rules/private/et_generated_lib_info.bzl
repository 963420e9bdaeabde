"""Provider of a generated library."""

visibility(["//rules/..."])

def _init(*, registered, headers):
    if type(registered) != "depset":
        fail("EtGeneratedLibInfo.registered: expected a depset, got a {}".format(type(registered)))
    return {"headers": headers, "registered": registered}

EtGeneratedLibInfo, _new_et_generated_lib_info = provider(
    doc = "What an `executorch_generated_lib` registers with the runtime.",
    fields = {
        "headers": "CcInfo: NativeFunctions.h and Functions.h without the registration.",
        "registered": "depset[File]: one JSON manifest a library: label, operators, schemas, kernels.",
    },
    init = _init,
)
