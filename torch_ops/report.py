"""The results of checks, as text and as JUnit's XML."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from torch_ops.checks import Result


def line(result: Result) -> str:
    """Returns the line for a check."""
    why = result.skipped or result.note
    return f"{result.status:<7} {result.check}" + (f": {why}" if why else "")


def summary(name: str, results: Sequence[Result]) -> str:
    """Returns the findings and a last line. A finding of several checks appears once."""
    findings: dict[tuple[str, str], str] = {}
    for result in results:
        if result.finding:
            findings.setdefault((str(result.finding.where), result.finding.found), str(result.finding))
    failed = [result.check for result in results if result.finding]
    last = f"FAILED: {', '.join(failed)} of {name}" if failed else f"PASSED: {len(results)} checks of {name}"
    return "\n\n".join([*findings.values(), last])


def xml(name: str, results: Sequence[Result]) -> str:
    """Returns the results as JUnit's XML, with a test case for each check."""
    failures = sum(result.status == "FAILED" for result in results)
    skipped = sum(result.status == "SKIPPED" for result in results)
    counts = {"tests": str(len(results)), "failures": str(failures), "skipped": str(skipped), "errors": "0"}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": name, **counts})
    for result in results:
        case = ElementTree.SubElement(suite, "testcase", {"name": result.check, "classname": name})
        if result.finding:
            failure = ElementTree.SubElement(case, "failure", {"message": result.finding.found})
            failure.text = str(result.finding)
        elif result.skipped:
            ElementTree.SubElement(case, "skipped", {"message": result.skipped})
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True)
