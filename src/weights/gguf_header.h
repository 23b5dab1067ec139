// Reads the header of one GGUF file, value by value, from untrusted bytes. Counts and lengths have 32 bits in version 1, 64 bits later.
#pragma once

#include "weights/byte_reader.h"
#include "weights/gguf.h"

namespace headrace {

class GgufHeaderReader {
 public:
  // Reads magic and version. Both arguments must outlive the reader; `where` names the file in errors.
  GgufHeaderReader(std::span<const std::byte> bytes, const std::string& where);

  uint32_t version() const { return version_; }
  size_t position() const { return in_.position(); }

  // The two counts come first: no larger than what can be in the file.
  uint64_t take_num_tensors();
  uint64_t take_num_metadata();
  GgufValue take_metadata();

  struct TensorEntry {
    GgufTensor tensor;               // without its bytes
    uint64_t offset = 0, bytes = 0;  // offset from the start of the data
  };
  TensorEntry take_tensor();

 private:
  size_t length_bytes() const { return version_ == 1 ? 4 : 8; }
  uint64_t take_length(std::string_view what) { return version_ == 1 ? in_.take<uint32_t>(what) : in_.take<uint64_t>(what); }
  // The number of things that follow, each of at least `least_bytes`.
  uint64_t take_count(std::string_view what, size_t least_bytes);
  std::string_view take_string(std::string_view what);
  GgufType take_type(std::string_view key);
  std::span<const std::byte> take_elements(GgufType element, uint64_t count, std::string_view key, int nesting_left);
  size_t least_bytes(GgufType element) const;

  ByteReader in_;
  const std::string& where_;
  uint32_t version_ = 0;
};

}  // namespace headrace
