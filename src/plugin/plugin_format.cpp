#include <mutex>

#include "core/dtype.h"
#include "plugin/adapters.h"
#include "plugin/handles.h"
#include "plugin/plugin_attributes.h"
#include "weights/weight_source.h"

namespace headrace {
namespace {

using Part = std::shared_ptr<const PluginPart<headrace_format>>;

// A file that the plugin has opened.
class OpenFile {
 public:
  OpenFile(Part part, const std::string& name, const std::string& path)
      : part_(std::move(part)), path_(path), what_(fmt::format("{}: format '{}'", path, name)) {
    call([&](headrace_context* c, void* user) { return part_->c.open(c, user, path.c_str(), &file_); });
  }
  ~OpenFile() {
    try {
      part_->c.close(part_->c.user, file_);
    } catch (...) {  // none may leave it
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& what() const { return what_; }
  const headrace_format& c() const { return part_->c; }
  void* get() const { return file_; }
  template <typename Body>
  void call(Body&& body) const {
    CallContext context;
    call_plugin(*part_->library, what_, context, [&](headrace_context* c) { return body(c, part_->c.user); });
  }

 private:
  Part part_;
  std::string path_, what_;
  void* file_ = nullptr;
};

class PluginWeights : public WeightSource {
 public:
  explicit PluginWeights(std::shared_ptr<const OpenFile> file) : file_(std::move(file)) {
    size_t count = 0;
    file_->call([&](headrace_context* c, void* user) { return file_->c().count(c, user, file_->get(), &count); });
    for (size_t i = 0; i < count; ++i) {
      headrace_stored_tensor t{.struct_size = sizeof(headrace_stored_tensor), .name = nullptr, .dtype = 0, .rank = 0, .sizes = {}};
      file_->call([&](headrace_context* c, void* user) { return file_->c().describe(c, user, file_->get(), i, &t); });
      const auto bad = [&](const std::string& why) { invalid("{}: tensor {} of {}: {}", file_->what(), i, count, why); };
      if (!t.name || !*t.name) bad("has no name");
      if (t.rank > kMaxRank) bad(fmt::format("has a rank of {}, at most {} is possible", t.rank, kMaxRank));
      try {
        const StoredType type{dtype_of_c(t.dtype), Sizes(std::span<const int64_t>(t.sizes, t.rank))};
        if (!checked_bytes(type.dtype, type.sizes)) bad("has impossible sizes " + type.sizes.to_string());
        if (!tensors_.emplace(t.name, Entry{i, type}).second) bad(fmt::format("'{}' is there twice", printable(t.name)));
      } catch (const Error& e) {
        if (std::string_view(e.what()).starts_with(file_->what())) throw;
        bad(e.what());
      }
    }
  }

  std::string describe() const override { return file_->path(); }
  std::vector<std::string> names() const override { return keys_of(tensors_); }
  std::optional<StoredType> find(const std::string& name) const override {
    const auto it = tensors_.find(name);
    return it == tensors_.end() ? std::nullopt : std::optional(it->second.type);
  }
  Tensor read(const std::string& name) const override { return *bytes(name); }
  std::shared_ptr<const void> owner(const std::string& name) const override { return bytes(name); }
  void release(const std::string& name) const override {
    const std::lock_guard lock(mutex_);
    read_.erase(name);
  }

 private:
  struct Entry {
    size_t index;
    StoredType type;
  };

  // Read on first use, and again after a release.
  std::shared_ptr<const HostTensor> bytes(const std::string& name) const {
    const auto it = tensors_.find(name);
    if (it == tensors_.end()) fail_no_tensor(*this, name);
    {
      const std::lock_guard lock(mutex_);
      if (const auto done = read_.find(name); done != read_.end()) return done->second;
    }
    const auto tensor = std::make_shared<const HostTensor>(it->second.type.dtype, it->second.type.sizes);
    file_->call([&](headrace_context* c, void* user) {
      return file_->c().read(c, user, file_->get(), it->second.index, tensor->view().data, size_t(tensor->view().bytes()));
    });
    const std::lock_guard lock(mutex_);
    return read_.emplace(name, tensor).first->second;
  }

  std::shared_ptr<const OpenFile> file_;
  std::map<std::string, Entry> tensors_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const HostTensor>> read_;
};

}  // namespace

CheckpointFormat adapt(Part part) {
  const headrace_format& c = part->c;
  check_plugin_name(c.name, "a weight format");
  if (!c.probe || !c.open || !c.close || !c.config || !c.count || !c.describe || !c.read)
    invalid("weight format '{}': probe, open, close, config, count, describe and read are wanted", c.name);
  const std::string name = c.name;
  const auto probe = [part, name](const std::string& path) {
    int32_t answer = 0;
    CallContext context;
    call_plugin(*part->library, fmt::format("{}: format '{}'", path, name), context,
                [&](headrace_context* c) { return part->c.probe(c, part->c.user, path.c_str(), &answer); });
    return answer != 0;
  };
  const auto open = [part, name](const std::string& path) {
    const auto file = std::make_shared<const OpenFile>(part, name, path);
    const char* config = nullptr;
    file->call([&](headrace_context* c, void* user) { return file->c().config(c, user, file->get(), &config); });
    if (!config) invalid("{}: gives no configuration", file->what());
    return CheckpointFormat::Opened{config, std::make_shared<PluginWeights>(file)};
  };
  return {.name = name, .probe = probe, .open = open};
}

}  // namespace headrace
