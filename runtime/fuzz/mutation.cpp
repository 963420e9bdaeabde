#include "runtime/fuzz/mutation.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <utility>

namespace rules_executorch {
namespace {

// A file during its mutation. All random numbers are from one generator without distributions, because distributions
// differ between standard libraries.
class Mutation {
 public:
  Mutation(Bytes file, const Bytes& other, uint64_t seed) : bytes_(std::move(file)), other_(other), generator_(seed) {}

  void Change() {
    if (bytes_.size() < kSmallest) {
      return;
    }
    switch (Below(10)) {
      case 0:
        return FlipBit();
      case 1:
        return SetWord<uint8_t>(Place(1));
      case 2:
        return SetWord<uint16_t>(Place(2));
      case 3:
      case 4:
        return SetWord<uint32_t>(Place(4));
      case 5:
        return SetWord<uint64_t>(Place(4));
      case 6:
      case 7:
        return ChangeField();
      case 8:
        return Splice();
      default:
        return Cut();
    }
  }

  Bytes Take() { return std::move(bytes_); }
  const std::string& changes() const { return changes_; }

 private:
  // The smallest size of a mutated file: the file must have space for a header.
  static constexpr size_t kSmallest = 64;

  uint64_t Below(uint64_t end) { return generator_() % end; }

  template <typename T>
  T Read(size_t at) const {
    T number = 0;
    if (at + sizeof(T) <= bytes_.size()) {
      std::memcpy(&number, bytes_.data() + at, sizeof(T));
    }
    return number;
  }

  template <typename T>
  void Write(size_t at, T number) {
    if (at + sizeof(T) <= bytes_.size()) {
      std::memcpy(bytes_.data() + at, &number, sizeof(T));
      Say(std::to_string(sizeof(T)) + " bytes at " + std::to_string(at) + " = " + std::to_string(number));
    }
  }

  void Say(const std::string& change) { changes_ += (changes_.empty() ? "" : "; ") + change; }

  // The end of the FlatBuffer according to the file's header: .pte files have the size there, .ptd files have the start
  // of the FlatBuffer and its size.
  size_t MetadataSize() const {
    uint64_t size = Read<uint64_t>(16);
    if (std::memcmp(bytes_.data() + 8, "FH01", 4) == 0) {
      size += Read<uint64_t>(24);
    }
    return size < kSmallest || size > bytes_.size() ? bytes_.size() : static_cast<size_t>(size);
  }

  // A position in the file, usually in the FlatBuffer: all values are valid for the numbers after it.
  size_t Place(size_t alignment) {
    const size_t end = Below(8) == 0 ? bytes_.size() : MetadataSize();
    return Below(end / alignment) * alignment;
  }

  void FlipBit() {
    const size_t at = Place(1);
    Write<uint8_t>(at, static_cast<uint8_t>(bytes_[at] ^ (1u << Below(8))));
  }

  // A number that often causes errors.
  uint64_t Number(uint64_t before) {
    switch (Below(8)) {
      case 0:
        return 0;
      case 1:
        return ~uint64_t{0};
      case 2:
        return uint64_t{1} << Below(64);
      case 3:
        return (uint64_t{1} << Below(64)) - 1;
      case 4:
        return before + Below(16) - 8;
      case 5:
        return bytes_.size() + Below(16) - 8;
      case 6:
        return Read<uint32_t>(Place(4));
      default:
        return Below(32);
    }
  }

  template <typename T>
  void SetWord(size_t at) {
    Write<T>(at, static_cast<T>(Number(Read<T>(at))));
  }

  // Finds a possible table from some position on: an offset to a layout, which starts with its size and the size of the
  // table.
  bool FindTable(size_t* table, size_t* layout, size_t* fields) {
    const size_t end = MetadataSize();
    const size_t start = Place(4);
    for (size_t i = 0; i < end; i += 4) {
      const size_t at = (start + i) % end / 4 * 4;
      const int64_t place = static_cast<int64_t>(at) - Read<int32_t>(at);
      if (place <= 0 || place + 4 > static_cast<int64_t>(end) || place == static_cast<int64_t>(at)) {
        continue;
      }
      const uint16_t layout_size = Read<uint16_t>(static_cast<size_t>(place));
      const uint16_t table_size = Read<uint16_t>(static_cast<size_t>(place) + 2);
      if (layout_size > 4 && layout_size % 2 == 0 && layout_size <= 40 && table_size >= 4 && table_size <= 128) {
        *table = at;
        *layout = static_cast<size_t>(place);
        *fields = (layout_size - 4u) / 2;
        return true;
      }
    }
    return false;
  }

  // Changes the position of a field of a table, or the content of the field.
  void ChangeField() {
    size_t table, layout, fields;
    if (!FindTable(&table, &layout, &fields)) {
      return;
    }
    const size_t slot = layout + 4 + 2 * Below(fields);
    if (Below(3) == 0) {
      const uint16_t another = Read<uint16_t>(layout + 4 + 2 * Below(fields));
      return Write<uint16_t>(slot, Below(2) == 0 ? uint16_t{0} : another);
    }
    SetWord<uint32_t>(table + Read<uint16_t>(slot));
  }

  // Copies a part of this file or of the other file to some position.
  void Splice() {
    const Bytes& source = Below(2) == 0 || other_.size() < kSmallest ? bytes_ : other_;
    const size_t size = 4 * (1 + Below(16));
    const size_t from = Below((source.size() - size) / 4 + 1) * 4;
    const size_t to = Place(4);
    const Bytes part(source.begin() + static_cast<std::ptrdiff_t>(from),
                     source.begin() + static_cast<std::ptrdiff_t>(std::min(from + size, source.size())));
    std::copy_n(part.begin(), std::min(part.size(), bytes_.size() - to),
                bytes_.begin() + static_cast<std::ptrdiff_t>(to));
    Say(std::to_string(part.size()) + " bytes from " + (&source == &other_ ? "another file's " : "") +
        std::to_string(from) + " to " + std::to_string(to));
  }

  // Removes the end or a part in the middle, or adds zeros.
  void Cut() {
    const size_t at = Place(Below(2) == 0 ? 1 : 4);
    const size_t size = std::min<size_t>(4 * (1 + Below(16)), bytes_.size() - at);
    switch (Below(3)) {
      case 0:
        bytes_.resize(at);
        return Say("cut off at " + std::to_string(at));
      case 1:
        bytes_.erase(bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(at + size));
        return Say(std::to_string(size) + " bytes left out at " + std::to_string(at));
      default:
        bytes_.insert(bytes_.begin() + static_cast<std::ptrdiff_t>(at), size, 0);
        return Say(std::to_string(size) + " zeros put in at " + std::to_string(at));
    }
  }

  Bytes bytes_;
  const Bytes& other_;
  std::mt19937_64 generator_;
  std::string changes_;
};

}  // namespace

Bytes Mutate(const Bytes& file, const Bytes& other, uint64_t seed, std::string* changes) {
  Mutation mutation(file, other, seed);
  for (uint64_t left = 1 + seed % 4; left > 0; --left) {
    mutation.Change();
  }
  *changes = mutation.changes();
  return mutation.Take();
}

}  // namespace rules_executorch
