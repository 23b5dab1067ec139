// Safetensors files: 8 bytes of header length, a JSON header, tensors without gaps. Everything is checked when the file is opened,
// and nothing is copied: tensors are views of the mapped file.
#pragma once

#include <unordered_map>

#include "core/mapped_file.h"
#include "headrace/types.h"

namespace headrace {

struct SafetensorsTensor {
  std::string name;
  std::string dtype_name;      // as the file spells it: "BF16"
  std::optional<DType> dtype;  // nothing for a type that Headrace does not read
  Sizes sizes;
  std::span<const std::byte> data;  // not always aligned for its type: old writers did not pad the header
};

class SafetensorsFile {
 public:
  // Throws Error(kNotFound) when it cannot be opened, Error(kInvalidArgument) when it is damaged.
  static SafetensorsFile open(const std::string& path);
  // The bytes must outlive the result. `where` names them in errors.
  static SafetensorsFile parse(std::span<const std::byte> bytes, const std::string& where);

  const std::string& where() const { return where_; }
  // In order of their place in the file.
  std::span<const SafetensorsTensor> tensors() const { return tensors_; }
  const SafetensorsTensor* find(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // Drops a tensor's pages from this process; reading it again brings them back.
  void release(const SafetensorsTensor& tensor) const;
  // Where a tensor's bytes are in the file.
  uint64_t offset_of(const SafetensorsTensor& tensor) const { return uint64_t(tensor.data.data() - bytes_.data()); }

 private:
  std::string where_;
  std::span<const std::byte> bytes_;
  std::vector<SafetensorsTensor> tensors_;
  std::unordered_map<std::string, size_t> by_name_;
  std::map<std::string, std::string> metadata_;
  std::shared_ptr<const MappedFile> file_;
};

// "F32". Block types have no name in safetensors.
std::optional<std::string_view> safetensors_name(DType dtype);

}  // namespace headrace
