"""Bazel's common attributes that all targets of a macro have."""

visibility(["//rules/..."])

_NAMES = ["compatible_with", "tags", "target_compatible_with", "testonly", "visibility"]

def common_attributes(attrs):
    """Returns the common attributes among the attributes of a macro."""
    return {name: attrs[name] for name in _NAMES if name in attrs}

def on_request(attrs):
    """Returns the attributes with the tag `manual`, so that Bazel builds the target only on request."""
    tags = attrs.get("tags") or []
    return attrs | {"tags": tags + [tag for tag in ["manual"] if tag not in tags]}
