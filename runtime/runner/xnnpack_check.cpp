#include "runtime/runner/xnnpack_check.h"

#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

#include "runtime/runner/xnnpack_format.h"

namespace rules_executorch {
namespace {

using Vector = FlatBuffer::Vector;

// After four bytes of the data: a magic word, the size of this header, the position and the size of the FlatBuffer, and
// those of the constants.
constexpr size_t kMagic = 4;
constexpr size_t kGraphBegin = 10;
constexpr size_t kGraphSize = 14;
constexpr size_t kConstantsBegin = 18;
constexpr size_t kConstantsSize = 22;

// The id of no value.
constexpr uint32_t kNoValue = 0xffffffff;
// A constant. Without a size, the constant is in another file.
struct Constant {
  std::string_view name;
  std::optional<uint64_t> size;
};

class GraphCheck {
 public:
  GraphCheck(const FlatBuffer& file, uint64_t constants_size, const std::map<std::string_view, size_t>& named,
             std::vector<ExternalData>* external)
      : file_(file), constants_size_(constants_size), named_(named), external_(external) {}

  size_t Check() {
    const size_t graph = file_.Root();
    ReadConstants(file_.Tables(graph, kXNNGraphConstantData));
    const Vector values = file_.Tables(graph, kXNNGraphXvalues);
    externs_ = file_.Number<uint32_t>(graph, kXNNGraphNumExterns);
    if (externs_ > values.size) {
      file_.Fail("%u inputs and outputs of %zu values", externs_, values.size);
    }
    for (size_t i = 0; i < values.size; ++i) {
      CheckValue(file_.Table(values, i));
    }
    for (int ids : {kXNNGraphInputIds, kXNNGraphOutputIds}) {
      const Vector elements = file_.Elements(graph, ids, sizeof(uint32_t));
      for (size_t i = 0; i < elements.size; ++i) {
        Dims(file_.Element<uint32_t>(elements, i));
      }
    }
    const Vector nodes = file_.Tables(graph, kXNNGraphXnodes);
    for (size_t i = 0; i < nodes.size; ++i) {
      CheckNode(file_.Table(nodes, i));
    }
    return externs_;
  }

 private:
  void ReadConstants(const Vector& constants) {
    for (size_t i = 0; i < constants.size; ++i) {
      const size_t constant = file_.Table(constants, i);
      const uint64_t offset = file_.Number<uint64_t>(constant, kConstantDataOffsetOffset);
      const uint64_t size = file_.Number<uint64_t>(constant, kConstantDataOffsetSize);
      const std::string_view name = file_.Field(constant, kConstantDataOffsetNamedKey) == 0
                                        ? std::string_view()
                                        : file_.Text(constant, kConstantDataOffsetNamedKey);
      if (name.empty()) {
        if (offset > constants_size_ || size > constants_size_ - offset) {
          file_.Fail("constant %zu is not in it", i);
        }
        constants_.push_back({name, size});
      } else {
        const auto found = named_.find(name);
        constants_.push_back({name, found == named_.end() ? std::nullopt : std::optional<uint64_t>(found->second)});
      }
    }
  }

  // Checks that a constant has the bytes that are read of it.
  void CheckConstant(uint32_t index, uint64_t bits) const {
    if (index >= constants_.size()) {
      file_.Fail("constant %u of %zu", index, constants_.size());
    }
    const Constant& constant = constants_[index];
    if (!constant.size) {
      external_->push_back({std::string(constant.name), static_cast<size_t>(bits / 8), std::nullopt});
    } else if (bits / 8 > *constant.size) {
      file_.Fail("constant %u has %llu bytes of %llu", index, static_cast<unsigned long long>(*constant.size),
                 static_cast<unsigned long long>(bits / 8));
    }
  }

  void CheckValue(size_t value) {
    const uint8_t kind = file_.Number<uint8_t>(value, kXValueXvalueUnionType);
    if (kind != kXValueUnionXNNTensorValue && kind != kXValueUnionXNNQuantizedTensorValue) {
      file_.Fail("a value of kind %d", kind);
    }
    const size_t content = file_.Child(value, kXValueXvalueUnion);
    const bool quantized = kind == kXValueUnionXNNQuantizedTensorValue;
    const size_t tensor = quantized ? file_.Child(content, kXNNQuantizedTensorValueTensorValue) : content;
    const Vector dims = file_.Elements(tensor, kXNNTensorValueDims, sizeof(uint32_t));
    if (dims.size != file_.Number<uint32_t>(tensor, kXNNTensorValueNumDims)) {
      file_.Fail("a value with other than its %zu dimensions", dims.size);
    }
    const auto type = static_cast<size_t>(file_.Number<uint16_t>(tensor, kXNNTensorValueDatatype));
    if (type >= std::size(kXnnpackBits)) {
      file_.Fail("a value of datatype %zu", type);
    }
    const uint32_t constant = file_.Number<uint32_t>(tensor, kXNNTensorValueConstantBufferIdx);
    if (constant != 0) {
      uint64_t bits = kXnnpackBits[type];
      for (size_t i = 0; i < dims.size; ++i) {
        if (__builtin_mul_overflow(bits, file_.Element<uint32_t>(dims, i), &bits)) {
          file_.Fail("a constant of more than 2^64 bits");
        }
      }
      CheckConstant(constant, bits);
    }
    const uint32_t external = file_.Number<uint32_t>(tensor, kXNNTensorValueExternalId);
    if (external != kNoValue && external >= externs_) {
      file_.Fail("input or output %u of %u", external, externs_);
    }
    if (quantized) {
      CheckQuantization(content, dims);
    }
    dims_[file_.Number<uint32_t>(tensor, kXNNTensorValueIdOut)] = dims.size;
  }

  void CheckQuantization(size_t value, const Vector& dims) const {
    const uint8_t kind = file_.Number<uint8_t>(value, kXNNQuantizedTensorValueQuantParamsType);
    const size_t params = file_.Child(value, kXNNQuantizedTensorValueQuantParams);
    if (kind == kXNNQuantParamsPerChannelQuant) {
      const uint32_t channel = Channel(params, kPerChannelQuantChannelDim, dims);
      CheckScales(params, kPerChannelQuantScale, kPerChannelQuantScaleBufferIdx, kPerChannelQuantNumScales, channel,
                  sizeof(float));
    } else if (kind == kXNNQuantParamsPerChannelGroupQuant) {
      const uint32_t channel = Channel(params, kPerChannelGroupQuantChannelDim, dims);
      if (file_.Number<int32_t>(params, kPerChannelGroupQuantGroupSize) <= 0) {
        file_.Fail("groups without elements");
      }
      CheckScales(params, kPerChannelGroupQuantScale, kPerChannelGroupQuantScaleBufferIdx,
                  kPerChannelGroupQuantNumScales, channel, sizeof(uint16_t));
    } else if (kind != kXNNQuantParamsPerTensorQuant && kind != kXNNQuantParamsPerTokenDynamicQuant) {
      file_.Fail("a quantization of kind %d", kind);
    }
  }

  // The number of channels: the size of the dimension that a field names.
  uint32_t Channel(size_t params, int field, const Vector& dims) const {
    const int32_t dim = file_.Number<int32_t>(params, field);
    if (dim < 0 || static_cast<size_t>(dim) >= dims.size) {
      file_.Fail("channels in dimension %d of %zu", dim, dims.size);
    }
    return file_.Element<uint32_t>(dims, static_cast<size_t>(dim));
  }

  // Checks that there is a scale for each channel, in a constant or in the FlatBuffer.
  void CheckScales(size_t params, int inline_scales, int constant, int count, uint32_t channels, size_t size) const {
    const uint32_t index = file_.Number<uint32_t>(params, constant);
    const uint64_t scales =
        index != 0 ? file_.Number<uint32_t>(params, count) : file_.Elements(params, inline_scales, sizeof(float)).size;
    if (index != 0) {
      CheckConstant(index, scales * size * 8);
    }
    if (scales < channels) {
      file_.Fail("%llu scales for %u channels", static_cast<unsigned long long>(scales), channels);
    }
  }

  // The number of dimensions of a value.
  size_t Dims(uint32_t id) const {
    const auto found = dims_.find(id);
    if (found == dims_.end()) {
      file_.Fail("value %u, which is not defined", id);
    }
    return found->second;
  }

  void CheckNode(size_t node) const {
    const uint8_t kind = file_.Number<uint8_t>(node, kXNodeXnodeUnionType);
    if (kind == 0 || kind >= std::size(kXnnpackNodes)) {
      return;  // The backend refuses nodes that it does not know.
    }
    const XnnpackNode& known = kXnnpackNodes[kind];
    const size_t content = file_.Child(node, kXNodeXnodeUnion);
    size_t dims = 0;
    for (int field = 31; field >= 0; --field) {
      if ((known.ids >> field & 1) != 0) {
        const uint32_t id = file_.Number<uint32_t>(content, field);
        dims = id == kNoValue ? dims : Dims(id);
      }
    }
    // `dims` are now those of the first value, which is the input.
    for (int field = 0; field < 32; ++field) {
      if ((known.vectors >> field & 1) != 0) {
        const Vector elements = file_.Elements(content, field, sizeof(uint32_t));
        const bool is_counted = (known.vectors & 1) == 0;  // The first field has the number of elements.
        const size_t needed = is_counted ? file_.Number<uint32_t>(content, 0) : dims;
        if (elements.size < needed) {
          file_.Fail("%s has %zu elements for %zu dimensions", known.name, elements.size, needed);
        }
      }
    }
  }

  const FlatBuffer& file_;
  const uint64_t constants_size_;
  const std::map<std::string_view, size_t>& named_;
  std::vector<ExternalData>* const external_;
  std::vector<Constant> constants_;
  std::map<uint32_t, size_t> dims_;  // by the ids of values
  uint32_t externs_ = 0;
};

}  // namespace

size_t CheckXnnpackData(const uint8_t* bytes, size_t size, const std::map<std::string_view, size_t>& named,
                        const std::string& path, const std::string& place, FlatBuffer::Refuse refuse,
                        std::vector<ExternalData>* external) {
  FlatBuffer file(bytes, size, path, refuse);
  file.set_place(place);
  file.Read<uint64_t>(kConstantsSize);
  if (std::memcmp(bytes + kMagic, "XH00", 4) != 0) {
    file.Fail("it does not begin with XNNPACK's header");
  }
  const size_t begin = file.Read<uint32_t>(kGraphBegin);
  const size_t graph_size = file.Read<uint32_t>(kGraphSize);
  const size_t constants_begin = file.Read<uint32_t>(kConstantsBegin);
  const auto constants_size = file.Read<uint64_t>(kConstantsSize);
  if (begin > size || graph_size > size - begin || constants_begin > size || constants_size > size - constants_begin) {
    file.Fail("its graph or its constants are not in its %zu bytes", size);
  }
  FlatBuffer graph(bytes + begin, graph_size, path, refuse);
  graph.set_place(place);
  graph.Read<uint64_t>(0);
  if (std::memcmp(bytes + begin + 4, "XN0", 3) != 0) {
    graph.Fail("it has no graph of XNNPACK");
  }
  return GraphCheck(graph, constants_size, named, external).Check();
}

}  // namespace rules_executorch
