"""The models of this folder: what the BUILD file and tools/bench say of each."""

# Each in floats and in 8 bits; min_snr is what 8 bits leave of the model's outputs.
MODELS = {
    "bert": struct(
        deps = [],
        min_snr = "28",
        model = "bert.py",
        quantize = "xnnpack_int8",
    ),
    "mobilenet_v2": struct(
        deps = ["//examples/mobilenet_v2:model_py"],
        min_snr = "18",
        model = "mobilenet_v2.py",
        quantize = "xnnpack_int8",
    ),
    "tiny_llama": struct(
        deps = [],
        min_snr = "30",
        model = "//examples/tiny_llama:model.py",
        quantize = "xnnpack_int8_dynamic",
    ),
}

# Of the others, XNNPACK takes everything.
WITH_KERNELS = [
    "bert",
    "tiny_llama",
]
