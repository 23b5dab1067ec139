// For tests: builds checkpoint files byte by byte, right or deliberately wrong.
#pragma once

#include <string>
#include <vector>

#include "core/test_support.h"

namespace headrace::test {

template <typename T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

// A safetensors file with this header text and so many bytes of data, numbered.
inline std::string safetensors(const std::string& header, size_t data_bytes) {
  std::string file = raw(uint64_t(header.size())) + header;
  for (size_t i = 0; i < data_bytes; ++i) file += char(i);
  return file;
}

// A GGUF file; each part can be given wrongly.
struct GgufBuilder {
  uint32_t version = 3;
  uint64_t num_tensors = 0, num_values = 0;
  std::string values, tensors, data;

  std::string length(uint64_t n) const { return version == 1 ? raw(uint32_t(n)) : raw(n); }
  std::string text(const std::string& s) const { return length(s.size()) + s; }
  GgufBuilder& value(const std::string& key, uint32_t type, const std::string& bytes) {
    ++num_values;
    values += text(key) + raw(type) + bytes;
    return *this;
  }
  GgufBuilder& string(const std::string& key, const std::string& s) { return value(key, 8, text(s)); }
  GgufBuilder& u32(const std::string& key, uint32_t n) { return value(key, 4, raw(n)); }
  GgufBuilder& f32(const std::string& key, float x) { return value(key, 6, raw(x)); }
  GgufBuilder& strings(const std::string& key, const std::vector<std::string>& all) {
    std::string bytes = raw(uint32_t{8}) + length(all.size());
    for (const std::string& s : all) bytes += text(s);
    return value(key, 9, bytes);
  }
  GgufBuilder& i32s(const std::string& key, const std::vector<int32_t>& all) {
    std::string bytes = raw(uint32_t{5}) + length(all.size());
    for (int32_t n : all) bytes += raw(n);
    return value(key, 9, bytes);
  }
  // Sizes in the file's order, innermost first.
  GgufBuilder& tensor(const std::string& name, const std::vector<uint64_t>& sizes, uint32_t type, uint64_t offset) {
    ++num_tensors;
    tensors += text(name) + raw(uint32_t(sizes.size()));
    for (uint64_t n : sizes) tensors += length(n);
    tensors += raw(type) + raw(offset);
    return *this;
  }
  // An fp32 tensor after the ones before it, of the value `fill`.
  GgufBuilder& f32_tensor(const std::string& name, const std::vector<uint64_t>& sizes, float fill = 0) {
    uint64_t count = 1;
    for (uint64_t n : sizes) count *= n;
    data.resize((data.size() + 31) / 32 * 32);
    tensor(name, sizes, 0, data.size());
    for (uint64_t i = 0; i < count; ++i) data += raw(fill);
    return *this;
  }
  std::string header() const { return "GGUF" + raw(version) + length(num_tensors) + length(num_values) + values; }
  std::string file() const {
    std::string all = header() + tensors;
    all.resize((all.size() + 31) / 32 * 32);
    return all + data;
  }
};

}  // namespace headrace::test
