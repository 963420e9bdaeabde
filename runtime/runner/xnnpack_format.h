#pragma once

namespace rules_executorch {

// The field numbers of the schema of XNNPACK's data (backends/xnnpack/serialization/schema.fbs in the wheel), from the
// first field of each table. A union has two numbers. Newer versions append fields.
enum XNNGraphField {
  kXNNGraphVersion,
  kXNNGraphXnodes,
  kXNNGraphXvalues,
  kXNNGraphNumExterns,
  kXNNGraphInputIds,
  kXNNGraphOutputIds,
  kXNNGraphConstantBuffer,
  kXNNGraphMemBufferSizes,
  kXNNGraphConstantData,
};
enum ConstantDataOffsetField { kConstantDataOffsetOffset, kConstantDataOffsetSize, kConstantDataOffsetNamedKey };
enum XValueField { kXValueXvalueUnionType, kXValueXvalueUnion };
enum XNodeField { kXNodeXnodeUnionType, kXNodeXnodeUnion };
enum XNNQuantizedTensorValueField {
  kXNNQuantizedTensorValueTensorValue,
  kXNNQuantizedTensorValueQuantParamsType,
  kXNNQuantizedTensorValueQuantParams,
};
enum XNNTensorValueField {
  kXNNTensorValueDatatype,
  kXNNTensorValueNumDims,
  kXNNTensorValueDims,
  kXNNTensorValueConstantBufferIdx,
  kXNNTensorValueExternalId,
  kXNNTensorValueFlags,
  kXNNTensorValueIdOut,
};
enum PerChannelQuantField {
  kPerChannelQuantScale,
  kPerChannelQuantChannelDim,
  kPerChannelQuantScaleBufferIdx,
  kPerChannelQuantNumScales,
};
enum PerChannelGroupQuantField {
  kPerChannelGroupQuantScale,
  kPerChannelGroupQuantChannelDim,
  kPerChannelGroupQuantGroupSize,
  kPerChannelGroupQuantScaleBf16,
  kPerChannelGroupQuantScaleBufferIdx,
  kPerChannelGroupQuantNumScales,
};

// The kinds of values and of quantization.
enum XValueUnionKind { kXValueUnionNONE, kXValueUnionXNNTensorValue, kXValueUnionXNNQuantizedTensorValue };
enum XNNQuantParamsKind {
  kXNNQuantParamsNONE,
  kXNNQuantParamsPerChannelQuant,
  kXNNQuantParamsPerTensorQuant,
  kXNNQuantParamsPerTokenDynamicQuant,
  kXNNQuantParamsPerChannelGroupQuant,
};

// The bits of an element, by the number of the datatype.
constexpr unsigned kXnnpackBits[] = {0, 32, 16, 8, 8, 32, 8, 32, 4, 8, 4, 8, 32, 32, 16};

// A kind of node, by the number of the union: a bit for each field that has the id of a value, and the fields that are
// vectors with an element for each dimension.
struct XnnpackNode {
  const char* name;
  unsigned ids;
  unsigned vectors = 0;
};
constexpr unsigned Bits(unsigned first, unsigned count) { return ((1U << count) - 1) << first; }
constexpr XnnpackNode kXnnpackNodes[] = {
    {"NONE", 0},
    {"XNNAdd", Bits(0, 3)},
    {"XNNFullyConnected", Bits(0, 4)},
    {"XNNSoftmax", Bits(0, 2)},
    {"XNNSigmoid", Bits(0, 2)},
    {"XNNStaticTranspose", Bits(2, 2), Bits(1, 1)},
    {"XNNClamp", Bits(0, 2)},
    {"XNNConv2d", Bits(15, 4)},
    {"XNNDiv", Bits(0, 3)},
    {"XNNStaticResizeBilinear2D", Bits(2, 2)},
    {"XNNStaticConstantPad", Bits(3, 2), Bits(0, 2)},
    {"XNNAvgPooling2d", Bits(10, 2)},
    {"XNNMinimum", Bits(0, 3)},
    {"XNNDepthwiseConv2d", Bits(15, 4)},
    {"XNNMaxPooling2d", Bits(10, 2)},
    {"XNNMultiply", Bits(0, 3)},
    {"XNNSubtract", Bits(0, 3)},
    {"XNNFloor", Bits(0, 2)},
    {"XNNConvert", Bits(0, 2)},
    {"XNNGlobalAvgPooling2d", Bits(0, 2)},
    {"XNNStaticReshape", Bits(2, 2), Bits(1, 1)},
    {"XNNArgMaxPooling2d", Bits(6, 3)},
    {"XNNSquareRoot", Bits(0, 2)},
    {"XNNCeiling", Bits(0, 2)},
    {"XNNHardswish", Bits(0, 2)},
    {"XNNLeakyReLU", Bits(1, 2)},
    {"XNNMaximum", Bits(0, 3)},
    {"XNNNegate", Bits(0, 2)},
    {"XNNSquare", Bits(0, 2)},
    {"XNNELU", Bits(1, 2)},
    {"XNNAbs", Bits(0, 2)},
    {"XNNPReLU", Bits(0, 3)},
    {"XNNConcatenate2", Bits(1, 2) | Bits(5, 1)},
    {"XNNConcatenate3", Bits(1, 3) | Bits(5, 1)},
    {"XNNConcatenate4", Bits(1, 5)},
    {"XNNStaticSlice", Bits(3, 2), Bits(1, 2)},
    {"XNNScaledDotProductAttention", Bits(0, 6)},
    {"XNNBatchMatrixMultiply", Bits(0, 3)},
    {"XNNConcatenate5", Bits(1, 5) | Bits(7, 1)},
    {"XNNConvTranspose2d", Bits(15, 4)},
    {"XNNReciprocalSquareRoot", Bits(0, 2)},
    {"XNNLog", Bits(0, 2)},
    {"XNNGelu", Bits(0, 2)},
    {"XNNTanh", Bits(0, 2)},
    {"XNNExp", Bits(0, 2)},
    {"XNNSin", Bits(0, 2)},
    {"XNNCopy", Bits(0, 2)},
    {"XNNCos", Bits(0, 2)},
};

}  // namespace rules_executorch
