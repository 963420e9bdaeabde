"""Provider of a generated library."""

visibility(["//rules/..."])

def _init(*, registered, headers, manifest, kernels = None, dtypes = depset(), typed_kernels = None):
    if type(registered) != "depset":
        fail("EtGeneratedLibInfo.registered: expected a depset, got a {}".format(type(registered)))
    if type(dtypes) != "depset":
        fail("EtGeneratedLibInfo.dtypes: expected a depset, got a {}".format(type(dtypes)))
    return {
        "dtypes": dtypes,
        "headers": headers,
        "kernels": kernels,
        "manifest": manifest,
        "registered": registered,
        "typed_kernels": typed_kernels,
    }

EtGeneratedLibInfo, _new_et_generated_lib_info = provider(
    doc = "The registrations of an `executorch_generated_lib` with the runtime.",
    fields = {
        "dtypes": "depset[File]: a JSON file for each library with dtype_selective_build: the dtypes of the library's kernels.",
        "headers": "CcInfo: NativeFunctions.h and Functions.h without the registration.",
        "kernels": "CcInfo | None: the headers with the kernels, without the registration. None for a library with headers only.",
        "manifest": "File: the JSON manifest of the library's own operators, as in `registered`.",
        "registered": "depset[File]: a JSON manifest for each library: label, operators, schemas, kernels.",
        "typed_kernels": "File | None: TypedKernels.h, if `kernels` has kernels for several instruction sets.",
    },
    init = _init,
)
