// GGUF files, versions 1 to 3, little-endian: typed metadata, and tensors in place. Everything is checked when the file is opened, so
// that later reads need no checks; nothing is copied: strings, arrays and tensors are views of the mapped file.
#pragma once

#include <unordered_map>

#include "core/mapped_file.h"
#include "weights/weight_source.h"

namespace headrace {

enum class GgufType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };
std::string_view name(GgufType type);

struct GgufValue {
  std::string_view key;
  GgufType type = GgufType::kU8;
  GgufType element = GgufType::kU8;  // of an array
  uint64_t count = 1;                // of an array's elements
  std::span<const std::byte> bytes;  // a string's characters, an array's elements as stored, or the number
};

struct GgufTensor {
  std::string name;
  DType dtype = DType::kF32;
  Sizes sizes;  // outermost first, as in PyTorch: the reverse of the file's order
  std::span<const std::byte> data;
  int file = 0;  // which of the split files holds it
};

class GgufFile {
 public:
  // Opens one file, or all of NAME-00001-of-0000N.gguf given the first. Throws Error(kNotFound) for a missing file or part,
  // Error(kUnsupported) for an element type that Headrace does not read, Error(kInvalidArgument) for a damaged file.
  static GgufFile open(const std::string& path);
  // The bytes must outlive the result, and be aligned to 8. `where` names them in errors.
  static GgufFile parse(std::span<const std::byte> bytes, const std::string& where);

  const std::string& where() const { return where_; }
  uint32_t version() const { return version_; }
  // In file order; of split files, the first one's.
  std::span<const GgufValue> metadata() const { return metadata_; }
  std::span<const GgufTensor> tensors() const { return tensors_; }
  const GgufTensor* find_tensor(std::string_view name) const;

  // The value at `key`, or nothing when it is absent. Throws Error(kInvalidArgument) when it is of another kind:
  // integer takes any width (u64 up to 2^63), real any number, the plural forms arrays of those.
  bool has(std::string_view key) const { return find(key) != nullptr; }
  std::optional<std::string_view> string(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;
  std::optional<double> real(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::vector<std::string_view>> strings(std::string_view key) const;
  std::optional<std::vector<int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<double>> reals(std::string_view key) const;
  bool is_array(std::string_view key) const;
  // The number of elements of an array, whatever they are.
  std::optional<uint64_t> array_size(std::string_view key) const;

  // A GGUF with this one's metadata and no tensors: vocabulary and configuration, to keep elsewhere.
  std::string metadata_only() const;
  // Drops a tensor's pages from this process; reading it again brings them back.
  void release(const GgufTensor& tensor) const;
  // Nothing when the bytes are not a file's.
  std::optional<FileRange> locate(const GgufTensor& tensor) const;

 private:
  const GgufValue* find(std::string_view key) const;
  const GgufValue& expect(const GgufValue& value, bool fits, std::string_view wanted) const;
  void read(std::span<const std::byte> bytes, const std::string& where);
  void add(GgufFile part);

  std::string where_;
  uint32_t version_ = 0;
  std::span<const std::byte> header_;  // up to the end of the metadata
  std::vector<GgufValue> metadata_;
  std::unordered_map<std::string_view, size_t> by_key_;
  std::vector<GgufTensor> tensors_;
  std::unordered_map<std::string, size_t> by_name_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
};

}  // namespace headrace
