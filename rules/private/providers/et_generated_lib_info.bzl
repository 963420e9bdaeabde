"""Provider of a generated library."""

visibility(["//rules/..."])

def _init(*, registered, headers, dtypes = depset()):
    if type(registered) != "depset":
        fail("EtGeneratedLibInfo.registered: expected a depset, got a {}".format(type(registered)))
    if type(dtypes) != "depset":
        fail("EtGeneratedLibInfo.dtypes: expected a depset, got a {}".format(type(dtypes)))
    return {"dtypes": dtypes, "headers": headers, "registered": registered}

EtGeneratedLibInfo, _new_et_generated_lib_info = provider(
    doc = "What an `executorch_generated_lib` registers with the runtime.",
    fields = {
        "dtypes": "depset[File]: one JSON file a library with dtype_selective_build: the dtypes that its kernels handle.",
        "headers": "CcInfo: NativeFunctions.h and Functions.h without the registration.",
        "registered": "depset[File]: one JSON manifest a library: label, operators, schemas, kernels.",
    },
    init = _init,
)
