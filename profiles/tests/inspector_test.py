"""What the page of a profile says, compared with what ExecuTorch's Inspector says of the same ETDump and ETRecord."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from absl.testing import absltest
from executorch.devtools import Inspector

from profiles import etdump, profile_data

_NS_OF_MS = 1e6
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def _plain(operator: str) -> str:
    """The name of an operator without its overload, from aten::add.out as from aten.add.Tensor."""
    return ".".join(operator.replace("::", ".").split(".")[:2])


class InspectorTest(absltest.TestCase):
    def _profile(self, binary: str, program: str) -> tuple[list[etdump.Run], profile_data.Profile, list[Any]]:
        """Runs a binary; what we read of the ETDump, and the events that the Inspector reads of it."""
        recorded = Path(self.create_tempdir().full_path) / "out.etdp"
        command = [os.path.abspath(os.environ[binary]), f"--profile={recorded}", "--iterations=3"]
        subprocess.run(command, capture_output=True, check=True)
        runs = list(etdump.read(recorded.read_bytes()))
        origins = profile_data.origins(Path(os.environ[f"{program}_ORIGINS"]).read_text(), "forward")
        inspector = Inspector(etdump_path=str(recorded), etrecord=os.environ[f"{program}_ETRECORD"])
        (block,) = [block for block in inspector.event_blocks if block.name == "Execute"]
        profile = profile_data.summarize(runs, origins, {})
        assert profile
        return runs, profile, block.events

    def _assert_times(self, event: Any, expected: list[int]) -> None:
        """Checks the times of all runs; ours are whole nanoseconds."""
        self.assertEqual([round(ms * _NS_OF_MS) for ms in event.perf_data.raw], expected)

    def _assert_origin(self, origin: profile_data.Origin, event: Any, index: int) -> None:
        """Checks a node against one of those that the Inspector finds behind an event."""
        node = list(event.stack_traces)[index]
        self.assertEqual(_plain(origin.operator), _plain(event.op_types[index]))
        lines = [(file, int(line)) for file, line in _FRAME.findall(event.stack_traces[node])]
        ours = [(frame.file, frame.line) for frame in origin.stack]
        self.assertTrue(ours)
        # The page leaves out PyTorch's own lines behind the model's.
        self.assertEqual(ours, lines[: len(ours)])
        self.assertEqual(origin.module, list(event.module_hierarchy[node].values())[-1][0])

    def test_kernels(self) -> None:
        runs, profile, events = self._profile("PROFILED", "MODEL")
        (whole,) = [event for event in events if event.name == "Method::execute"]
        self._assert_times(whole, [run.ns for run in runs])
        kernels = [event for event in events if event.name.startswith("native_call_")]
        calls = [event for event in events if event.name == "OPERATOR_CALL"]
        self.assertEqual(len(profile.nodes), 6)
        self.assertEqual(len(calls), len(profile.nodes))
        for index, (node, kernel, call) in enumerate(zip(profile.nodes, kernels, calls, strict=True)):
            with self.subTest(node.operator):
                self.assertEqual(node.number, call._instruction_id)
                self.assertEqual(f"aten::{kernel.name.removeprefix('native_call_')}", node.operator)
                self._assert_times(call, [run.events[index].ns for run in runs])
                assert node.origin
                # A linear layer is two nodes of one layer: the Inspector finds both behind each of the two.
                behind = [_plain(operator) for operator in call.op_types]
                self._assert_origin(node.origin, call, behind.index(_plain(node.operator)))

        # The profile is of the timed runs, after a first one and one to warm up.
        times = profile.views[0].nodes
        for node, call in zip(profile.nodes, calls, strict=True):
            self.assertEqual(
                times[node.number].median, sorted(round(ms * _NS_OF_MS) for ms in call.perf_data.raw[2:])[1]
            )

    def test_backend(self) -> None:
        runs, profile, events = self._profile("LOWERED_PROFILED", "LOWERED")
        (node,) = profile.nodes
        (call,) = [event for event in events if event.name == "DELEGATE_CALL"]
        self.assertEqual(call.delegate_backend_name, node.operator)
        self._assert_times(call, [run.events[0].ns for run in runs])
        parts = [event for event in events if event.is_delegated_op]
        self.assertEqual([part.name for part in parts], [name for name, _ in profile.views[0].parts[node.number]])
        for index, part in enumerate(parts):
            self._assert_times(part, [run.events[0].parts[index].ns for run in runs])
        assert node.origin
        self.assertEqual(len(call.op_types), len(node.origin.parts))
        for index, origin in enumerate(node.origin.parts):
            self._assert_origin(origin, call, index)


if __name__ == "__main__":
    absltest.main()
