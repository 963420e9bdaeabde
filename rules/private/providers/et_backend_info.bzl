"""Provider of a backend."""

visibility(["//rules/..."])

def _init(*, label, backend_ids):
    for id in backend_ids:
        if type(id) != "string" or not id:
            fail("EtBackendInfo.backend_ids: expected names, got {}".format(repr(id)))
    return {"backend_ids": backend_ids, "label": label}

EtBackendInfo, _new_et_backend_info = provider(
    doc = "A library that registers backends with the runtime.",
    fields = {
        "backend_ids": "list[str]: the names under which the library registers backends, as programs call them.",
        "label": "str: the library's label.",
    },
    init = _init,
)
