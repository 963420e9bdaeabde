"""The quantizations of random modules, as text of model files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantization:
    """A way to quantize a module.

    Attributes:
        name: the name in messages.
        is_pt2e: whether a PT2E quantizer quantizes. If false, torchao's quantize_() quantizes in the module itself.
        code: the Python code.
    """

    name: str
    is_pt2e: bool
    code: str

    def added_to(self, source: str) -> str:
        """Returns the model file `source` with this quantization."""
        if self.is_pt2e:
            return source + _QUANTIZER.format(self.code)
        lines = (
            f"    from torchao import quantization as ao\n    from torchao.quantization import granularity\n{self.code}"
        )
        before = "    return model, ("
        return source.replace(before, f"{lines}\n{before}")


_QUANTIZER = """

def get_quantizer():
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer

    config = xnnpack_quantizer.get_symmetric_quantization_config({})
    return xnnpack_quantizer.XNNPACKQuantizer().set_global(config)
"""
_LAYERS = """\
    def is_taken(one, name):
        return isinstance(one, nn.Linear) and one.in_features % {features} == 0

    ao.quantize_(model, ao.{config}, filter_fn=is_taken)"""


def _of_layers(name: str, config: str, features: int = 1) -> Quantization:
    """Returns torchao's quantize_() for linear layers whose input features are a multiple of `features`."""
    return Quantization(name, False, _LAYERS.format(config=config, features=features))


# The fuzzer draws the first one twice as often.
QUANTIZATIONS = (
    Quantization("int8", True, "is_per_channel=True"),
    Quantization("int8", True, "is_per_channel=True"),
    Quantization("int8 of whole tensors", True, "is_per_channel=False"),
    Quantization("int8 of inputs that vary", True, "is_per_channel=True, is_dynamic=True"),
    _of_layers("weights of 8 bits", "Int8WeightOnlyConfig()"),
    _of_layers(
        "weights of 4 bits",
        "IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=granularity.PerGroup(16))",
        16,
    ),
    _of_layers(
        "weights of 8 bits and one scale a row",
        "IntxWeightOnlyConfig(weight_dtype=torch.int8, granularity=granularity.PerAxis(0))",
    ),
    _of_layers("rows of 8 bits", "Int8DynamicActivationInt8WeightConfig()"),
    _of_layers(
        "rows of 8 bits and weights of 4",
        "Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=granularity.PerGroup(16))",
        16,
    ),
)
