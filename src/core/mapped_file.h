// A file mapped into memory for reading. Never changes; views into it are valid for as long as it lives.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

class MappedFile {
 public:
  // Throws Error(kNotFound) when the file cannot be opened, Error(kInvalidArgument) when it is no regular file.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  // Asks the kernel to drop pages that were read; they come back from the page cache when touched again.
  void drop(std::span<const std::byte> part) const;

 private:
  MappedFile(std::string path, const std::byte* data, size_t size) : path_(std::move(path)), data_(data), size_(size) {}
  std::string path_;
  const std::byte* data_;
  size_t size_;
};

}  // namespace headrace
