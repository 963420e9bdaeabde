"""et_size_report: what the bytes of a binary are for."""

load("//rules/private/executorch:et_size_report.bzl", _et_size_report = "et_size_report")

et_size_report = _et_size_report
