"""et_size_report: the bytes of a binary by operator, dtype and other parts."""

load("//rules/private/executorch:et_size_report.bzl", _et_size_report = "et_size_report")

et_size_report = _et_size_report
