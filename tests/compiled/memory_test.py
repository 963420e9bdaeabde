"""The report of memory says what ExecuTorch says of the same program."""

import math
import re
from pathlib import Path

from absl.testing import absltest
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.runtime import Runtime

_HERE = Path("tests/compiled")


class MemoryTest(absltest.TestCase):
    def test_report(self) -> None:
        report = (_HERE / "shapes.memory.txt").read_text()
        path = _HERE / "shapes.pte"
        (plan,) = deserialize_pte_binary(path.read_bytes()).program.execution_plan
        self.assertIn(f"  planned memory  {sum(plan.non_const_buffer_sizes):,}\n", report)
        method = Runtime.get().load_program(path).metadata("forward")
        tensors = {f"input{i}": method.input_tensor_meta(i) for i in range(method.num_inputs())}
        # The last output is a number.
        tensors |= {f"output{i}": method.output_tensor_meta(i) for i in range(method.num_outputs() - 1)}
        for name, tensor in tensors.items():
            (line,) = re.findall(rf"^  {name}  (\w+) \[(.*)\]  ([\d,]+)  in planned1 at ", report, re.MULTILINE)
            sizes = [int(size.removeprefix("<= ")) for size in line[1].split(", ")]
            self.assertEqual(tuple(sizes), tuple(tensor.sizes()), name)
            self.assertEqual(int(line[2].replace(",", "")), tensor.nbytes(), name)
            self.assertEqual(tensor.nbytes(), math.prod(sizes) * (8 if line[0] == "int64" else 4), name)


if __name__ == "__main__":
    absltest.main()
