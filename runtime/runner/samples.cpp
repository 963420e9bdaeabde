#include "runtime/runner/samples.h"

#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "runtime/runner/failure.h"
#include "runtime/runner/file.h"
#include "runtime/runner/flat_buffer.h"
#include "runtime/runner/flat_file.h"

namespace rules_executorch {
namespace {

// After the first eight bytes of a file: a magic word, the size of this header, the start of the FlatBuffer without the
// header and its size, and the start of the segments and their size.
constexpr size_t kHeader = 8;
constexpr size_t kFlatBufferBegin = 16;
constexpr size_t kFlatBufferSize = 24;
constexpr size_t kSegmentsBegin = 32;
constexpr size_t kHeaderEnd = 48;

// With more, no output would fail.
constexpr double kMostGrowth = 1000;

// The field numbers of flat_tensor.fbs, from the first field of each table.
enum FlatTensorField { kFlatTensorVersion, kFlatTensorSegments, kFlatTensorNamedData };
enum NamedDataField { kNamedDataKey, kNamedDataSegmentIndex, kNamedDataTensorLayout };
enum TensorLayoutField { kTensorLayoutScalarType, kTensorLayoutSizes, kTensorLayoutDimOrder };

[[noreturn]] void FailToRead(const std::string& path, const std::string& what) {
  Fail("cannot read the samples " + path + ": " + what + ".", "the file is damaged, or is no .ptd file.",
       "give the .ptd file that the export wrote beside the program, with --samples=FILE.");
}

std::vector<uint8_t> ReadAll(const std::string& path) {
  File file(path);
  std::vector<uint8_t> bytes(file.size());
  file.Read(bytes.data());
  if (!file.problem().empty()) {
    FailToRead(path, file.problem());
  }
  return bytes;
}

// The FlatBuffer of a .ptd file.
FlatBuffer FindFlatBuffer(const FlatBuffer& whole, const std::vector<uint8_t>& bytes, const std::string& path) {
  if (bytes.size() < kHeaderEnd || std::memcmp(bytes.data() + 4, "FT01", 4) != 0 ||
      std::memcmp(bytes.data() + kHeader, "FH01", 4) != 0) {
    FailToRead(path, "it is not a .ptd file");
  }
  const uint64_t begin = whole.Read<uint64_t>(kFlatBufferBegin);
  const uint64_t size = whole.Read<uint64_t>(kFlatBufferSize);
  if (begin > bytes.size() || size > bytes.size() - begin) {
    FailToRead(path, "it is cut off");
  }
  return FlatBuffer(bytes.data(), static_cast<size_t>(begin + size), path, FailToRead);
}

// The tensors of a .ptd file.
class TensorFile {
 public:
  explicit TensorFile(const std::string& path)
      : bytes_(ReadAll(path)),
        whole_(bytes_.data(), bytes_.size(), path, FailToRead),
        file_(FindFlatBuffer(whole_, bytes_, path)),
        segments_(ReadSegments(file_, file_.Tables(file_.Root(), kFlatTensorSegments),
                               whole_.Read<uint64_t>(kSegmentsBegin), bytes_.size())) {
    const FlatBuffer::Vector named = file_.Tables(file_.Root(), kFlatTensorNamedData);
    for (size_t i = 0; i < named.size; ++i) {
      const size_t table = file_.Table(named, i);
      tables_.emplace(file_.Text(table, kNamedDataKey), table);
    }
  }

  std::set<std::string> Keys() const {
    std::set<std::string> keys;
    for (const auto& [key, table] : tables_) {
      keys.insert(key);
    }
    return keys;
  }

  TensorData Read(const std::string& key) const {
    const size_t table = tables_.at(key);
    Layout layout =
        ReadLayout(file_, file_.Child(table, kNamedDataTensorLayout), kTensorLayoutSizes, kTensorLayoutDimOrder, key);
    const uint32_t segment = file_.Number<uint32_t>(table, kNamedDataSegmentIndex);
    const Range range = segment < segments_.size() ? segments_[segment] : Range{0, 0};
    if (range.size != layout.nbytes()) {
      file_.Fail("%s has %zu bytes, and %s needs %zu", key.c_str(), range.size, Describe(layout).c_str(),
                 layout.nbytes());
    }
    const uint8_t* begin = bytes_.data() + range.begin;
    return {std::move(layout), {begin, begin + range.size}};
  }

  double ReadGrowth(const std::string& key) const {
    const TensorData tensor = Read(key);
    const double growth = tensor.layout.numel() == 1 ? ElementNumber(tensor, 0) : 0;
    if (!(growth >= 1 && growth <= kMostGrowth)) {
      file_.Fail("%s is no number from 1 to %g", key.c_str(), kMostGrowth);
    }
    return growth;
  }

 private:
  std::vector<uint8_t> bytes_;
  FlatBuffer whole_;
  FlatBuffer file_;
  std::vector<Range> segments_;
  std::map<std::string, size_t> tables_;  // the tables with the segments of the keys
};

}  // namespace

std::vector<Sample> ReadSamples(const std::string& path, const std::string& method, size_t num_inputs,
                                size_t num_outputs) {
  const TensorFile file(path);
  std::set<std::string> keys = file.Keys();
  std::vector<Sample> samples;
  while (true) {
    const std::string prefix = method + "/" + std::to_string(samples.size()) + "/";
    const auto first = keys.lower_bound(prefix);
    if (first == keys.end() || first->compare(0, prefix.size(), prefix) != 0) {
      break;
    }
    Sample sample{std::vector<Value>(num_inputs), std::vector<Value>(num_outputs)};
    sample.quantized = keys.erase(prefix + "quantized") == 1;
    if (keys.erase(prefix + "error_growth") == 1) {
      sample.error_growth = file.ReadGrowth(prefix + "error_growth");
    }
    for (const auto& [kind, values] : {std::pair("input/", &sample.inputs), std::pair("output/", &sample.outputs)}) {
      for (size_t i = 0; i < values->size(); ++i) {
        const std::string key = prefix + kind + std::to_string(i);
        if (keys.erase(key) == 1) {
          (*values)[i] = file.Read(key);
        }
      }
    }
    const auto left = keys.lower_bound(prefix);
    if (left != keys.end() && left->compare(0, prefix.size(), prefix) == 0) {
      Fail("the samples " + path + " have " + *left + ", but method " + method + " has " + std::to_string(num_inputs) +
               " inputs and " + std::to_string(num_outputs) + " outputs.",
           "the samples are those of another program.", "give the .ptd file that the export wrote beside the program.");
    }
    samples.push_back(std::move(sample));
  }
  if (samples.empty()) {
    Fail("the samples " + path + " have none for method " + method + ".",
         "they are those of another program, or the method has neither inputs nor outputs.",
         "give the .ptd file that the export wrote beside the program, or inputs with --input.");
  }
  return samples;
}

}  // namespace rules_executorch
