#include "jinja/operators.h"

namespace headrace::jinja {
namespace {

constexpr size_t kSmall = 8;  // up to here a scan is as fast as an index

size_t hash_of_text(std::string_view text) { return std::hash<std::string_view>()(text); }

}  // namespace

template <typename Matches>
int64_t DictObject::locate(size_t hash, Matches matches) const {
  if (slots_.empty()) {
    for (size_t i = 0; i < items_.size(); ++i)
      if (hashes_[i] == hash && matches(items_[i].first)) return int64_t(i);
    return -1;
  }
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at].item >= 0; at = (at + 1) & mask)
    if (slots_[at].hash == hash && matches(items_[size_t(slots_[at].item)].first)) return slots_[at].item;
  return -1;
}

const Value* DictObject::find(Runtime& runtime, const Value& key) const {
  runtime.step_through(key);
  if (key.is_string()) return find(text_of(key));
  const int64_t at = locate(hash(runtime, key), [&](const Value& other) {
    runtime.step();
    return same(key, other) || equal(runtime, key, other);
  });
  return at < 0 ? nullptr : &items_[size_t(at)].second;
}

const Value* DictObject::find(std::string_view key) const {
  const int64_t at = locate(hash_of_text(key), [&](const Value& other) { return other.is_string() && text_of(other) == key; });
  return at < 0 ? nullptr : &items_[size_t(at)].second;
}

void DictObject::set(Runtime& runtime, const Value& key, Value value) {
  if (const Value* old = find(runtime, key)) {
    *const_cast<Value*>(old) = std::move(value);
  } else {
    append(runtime, key.is_string() ? hash_of_text(text_of(key)) : hash(runtime, key), key, std::move(value));
  }
}

void DictObject::set(Runtime& runtime, std::string_view key, Value value) {
  set(runtime, runtime.string(std::string(key)), std::move(value));
}

void DictObject::append(Runtime& runtime, size_t hash, const Value& key, Value value) {
  runtime.step();
  runtime.heap.charge(*this, sizeof(items_[0]) + sizeof(hash) + 2 * sizeof(Slot));
  items_.emplace_back(key, std::move(value));
  hashes_.push_back(hash);
  if (items_.size() > kSmall && items_.size() * 2 > slots_.size()) return index_all();
  if (slots_.empty()) return;
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].item >= 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {hash, int64_t(items_.size()) - 1};
}

void DictObject::index_all() {
  slots_.assign(std::bit_ceil(items_.size() * 4), Slot{0, -1});
  for (size_t i = 0; i < items_.size(); ++i) {
    size_t at = hashes_[i] & (slots_.size() - 1);
    while (slots_[at].item >= 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {hashes_[i], int64_t(i)};
  }
}

}  // namespace headrace::jinja
