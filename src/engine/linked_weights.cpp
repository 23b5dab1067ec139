#include "engine/linked_weights.h"

#include <algorithm>

#include "core/dtype.h"
#include "core/mapped_file.h"
#include "engine/checksum.h"

namespace headrace {
namespace {

class LinkedWeights : public WeightSource {
 public:
  explicit LinkedWeights(std::map<std::string, WeightLink> links) : links_(std::move(links)) {
    for (const auto& [name, link] : links_) {
      auto& file = files_[link.range.path];
      if (!file) file = MappedFile::open(link.range.path);
      const auto bytes = checked_bytes(link.type.dtype, link.type.sizes);
      const uint64_t size = file->bytes().size();
      if (!bytes || uint64_t(*bytes) != link.range.bytes || link.range.offset > size || link.range.bytes > size - link.range.offset)
        invalid("{}: linked tensor '{}' is said to be at {}, {} bytes, which the file does not have; build the engine again",
                link.range.path, printable(name), link.range.offset, link.range.bytes);
      if (!is_aligned(bytes_of(link).data(), link.type.dtype))
        invalid("{}: linked tensor '{}' is at byte {}, where no {} can be read in place; build the engine again", link.range.path,
                printable(name), link.range.offset, headrace::name(link.type.dtype));
    }
  }
  std::string describe() const override { return links_.empty() ? "no weights" : links_.begin()->second.range.path; }
  std::vector<std::string> names() const override { return keys_of(links_); }
  std::optional<StoredType> find(const std::string& name) const override {
    const auto it = links_.find(name);
    return it == links_.end() ? std::nullopt : std::optional(it->second.type);
  }
  Tensor read(const std::string& name) const override {
    const auto it = links_.find(name);
    if (it == links_.end()) fail_no_tensor(*this, name);
    return Tensor::contiguous(bytes_of(it->second).data(), it->second.type.dtype, it->second.type.sizes);
  }
  void release(const std::string& name) const override {
    if (const auto it = links_.find(name); it != links_.end()) files_.at(it->second.range.path)->drop(bytes_of(it->second));
  }
  std::optional<FileRange> locate(const std::string& name) const override {
    const auto it = links_.find(name);
    return it == links_.end() ? std::nullopt : std::optional(it->second.range);
  }

 private:
  std::span<const std::byte> bytes_of(const WeightLink& link) const {
    return files_.at(link.range.path)->bytes().subspan(link.range.offset, link.range.bytes);
  }
  std::map<std::string, WeightLink> links_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

}  // namespace

std::string file_fingerprint(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::span<const std::byte> bytes = file->bytes();
  constexpr size_t kEdge = 65536, kPage = 4096, kPages = 64;
  uint64_t sum = checksum(bytes.first(std::min(kEdge, bytes.size())));
  sum = checksum(bytes.last(std::min(kEdge, bytes.size())), sum);
  for (size_t i = 0; i < kPages && bytes.size() > 2 * kEdge; ++i) {
    const size_t at = bytes.size() / kPages * i;
    sum = checksum(bytes.subspan(at, std::min(kPage, bytes.size() - at)), sum);
  }
  return fmt::format("{}-{:016x}", bytes.size(), sum);
}

std::shared_ptr<const WeightSource> linked_weights(std::map<std::string, WeightLink> links) {
  return std::make_shared<LinkedWeights>(std::move(links));
}

}  // namespace headrace
