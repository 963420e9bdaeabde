"""The models of this folder, for its BUILD file and tools/bench."""

# The programs of which `tools/bazel test //...` runs the tests; //:slow has those of the others.
SAMPLE = [
    "mobilenet_v2",
    "mobilenet_v2_int8",
]

# Each model is built in floats and in 8 bits. min_snr is the least signal-to-noise ratio of the outputs in 8 bits, in decibels.
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
