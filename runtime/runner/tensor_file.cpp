#include "runtime/runner/tensor_file.h"

#include <cstring>

namespace rules_executorch {
namespace {

// After the first eight bytes of a file: a magic word, the size of this header, the start of the FlatBuffer without the
// header and its size, and the start of the segments and their size.
constexpr size_t kHeader = 8;
constexpr size_t kFlatBufferBegin = 16;
constexpr size_t kFlatBufferSize = 24;
constexpr size_t kSegmentsBegin = 32;
constexpr size_t kHeaderEnd = 48;

// The field numbers of flat_tensor.fbs, from the first field of each table.
enum FlatTensorField { kFlatTensorVersion, kFlatTensorSegments, kFlatTensorNamedData };
enum NamedDataField { kNamedDataKey, kNamedDataSegmentIndex, kNamedDataTensorLayout };
enum TensorLayoutField { kTensorLayoutScalarType, kTensorLayoutSizes, kTensorLayoutDimOrder };

}  // namespace

FlatBuffer TensorFile::FindFlatBuffer(const uint8_t* bytes, size_t size, const std::string& path,
                                      FlatBuffer::Refuse refuse) {
  const FlatBuffer whole(bytes, size, path, refuse);
  if (size >= kHeader && std::memcmp(bytes + 4, "ET12", 4) == 0) {
    whole.Fail("it is a program, a .pte file");
  }
  if (size < kHeaderEnd || std::memcmp(bytes + 4, "FT01", 4) != 0 || std::memcmp(bytes + kHeader, "FH01", 4) != 0) {
    whole.Fail("it is not a .ptd file");
  }
  const uint64_t begin = whole.Read<uint64_t>(kFlatBufferBegin);
  const uint64_t length = whole.Read<uint64_t>(kFlatBufferSize);
  if (begin > size || length > size - begin) {
    whole.Fail("it is cut off");
  }
  return FlatBuffer(bytes, static_cast<size_t>(begin + length), path, refuse);
}

TensorFile::TensorFile(const uint8_t* bytes, size_t size, const std::string& path, FlatBuffer::Refuse refuse)
    : whole_(bytes, size, path, refuse),
      file_(FindFlatBuffer(bytes, size, path, refuse)),
      segments_(ReadSegments(file_, file_.Tables(file_.Root(), kFlatTensorSegments),
                             whole_.Read<uint64_t>(kSegmentsBegin), size)) {
  // The runtime reads these fields without a check.
  file_.Number<uint32_t>(file_.Root(), kFlatTensorVersion);
  file_.Child(file_.Root(), kFlatTensorSegments);
  file_.Child(file_.Root(), kFlatTensorNamedData);
  const FlatBuffer::Vector named = file_.Tables(file_.Root(), kFlatTensorNamedData);
  for (size_t i = 0; i < named.size; ++i) {
    const size_t table = file_.Table(named, i);
    tables_.emplace(file_.Text(table, kNamedDataKey), table);
  }
}

std::optional<TensorFile::Data> TensorFile::Find(std::string_view key) const {
  const auto found = tables_.find(key);
  if (found == tables_.end()) {
    return std::nullopt;
  }
  const size_t table = found->second;
  const uint32_t segment = file_.Number<uint32_t>(table, kNamedDataSegmentIndex);
  Data data{std::nullopt, segment < segments_.size() ? segments_[segment] : Range{0, 0}};
  if (file_.Field(table, kNamedDataTensorLayout) != 0) {
    data.layout = ReadLayout(file_, file_.Child(table, kNamedDataTensorLayout), kTensorLayoutSizes,
                             kTensorLayoutDimOrder, std::string(key));
    if (data.range.size != data.layout->nbytes()) {
      Refuse(key, "has " + std::to_string(data.range.size) + " bytes, and " + Describe(*data.layout) + " needs " +
                      std::to_string(data.layout->nbytes()));
    }
  }
  return data;
}

std::vector<std::string_view> TensorFile::Keys() const {
  std::vector<std::string_view> keys;
  for (const auto& [key, table] : tables_) {
    keys.push_back(key);
  }
  return keys;
}

bool TensorFile::has_samples() const {
  for (const auto& [key, table] : tables_) {
    if (key.find("/input/") != std::string_view::npos || key.find("/output/") != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

void TensorFile::Refuse(std::string_view key, const std::string& found) const {
  file_.Fail("%s %s", std::string(key).c_str(), found.c_str());
}

}  // namespace rules_executorch
