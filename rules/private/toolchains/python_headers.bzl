"""Python's C++ headers, of the interpreter that runs the built programs."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load(":toolchain_types.bzl", "PYTHON_TOOLCHAIN_TYPE")

def python_headers_rule(cc_toolchain_type):
    """Makes the rule python_headers. rules_python has a toolchain type of Python's headers since version 0.25.

    Args:
      cc_toolchain_type: Label, the toolchain type; None if rules_python has none.
    Returns:
      rule
    """

    def _python_headers_impl(ctx):
        python = ctx.toolchains[PYTHON_TOOLCHAIN_TYPE]
        is_machines = python and python.py3_runtime and python.py3_runtime.interpreter_path == ctx.attr.interpreter
        cc = ctx.toolchains[cc_toolchain_type] if cc_toolchain_type and not is_machines else None
        if cc:
            return cc.py_cc_toolchain.headers.providers_map.values()
        return [ctx.attr.machines[DefaultInfo], ctx.attr.machines[CcInfo]]

    types = [PYTHON_TOOLCHAIN_TYPE] + ([cc_toolchain_type] if cc_toolchain_type else [])
    return rule(
        doc = """Python's headers.

If the tools' Python is the machine's Python, or if there is no `py_cc_toolchain`, these are the headers of the machine's Python.
Otherwise, they come from the `py_cc_toolchain`.""",
        implementation = _python_headers_impl,
        attrs = {
            "interpreter": attr.string(
                doc = "The path of the machine's Python.",
                mandatory = True,
            ),
            "machines": attr.label(
                doc = "The headers of the machine's Python.",
                mandatory = True,
                providers = [CcInfo],
            ),
        },
        provides = [CcInfo],
        toolchains = [config_common.toolchain_type(label, mandatory = False) for label in types],
    )
