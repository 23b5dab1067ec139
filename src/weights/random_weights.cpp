#include "weights/random_weights.h"

#include <algorithm>

#include "core/blocks.h"
#include "core/error.h"

namespace headrace {
namespace {

constexpr float kDeviation = 0.02f;
constexpr int64_t kChunk = 4096;  // values made at a time; a multiple of every block

// Steele, Lea, Flood 2014: SplitMix64's mixing function.
uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

uint64_t hash_name(std::string_view name, uint64_t seed) {
  uint64_t hash = mix(seed + 0x9e3779b97f4a7c15u);
  for (const char c : name) hash = mix(hash + 0x9e3779b97f4a7c15u + static_cast<unsigned char>(c));
  return hash;
}

// The sum of four uniform bytes has mean 510 and variance 4 * (2^16 - 1) / 12: about normal, and cheap.
float about_normal(uint32_t bits) {
  const int sum = int(bits & 0xff) + int(bits >> 8 & 0xff) + int(bits >> 16 & 0xff) + int(bits >> 24);
  return float(sum - 510) * (1.0f / 147.8f);
}

bool scales_a_norm(const DeclaredWeight& weight) {
  const std::string_view name = weight.name;
  return weight.sizes.rank() == 1 && name.ends_with(".weight");
}

class RandomWeights : public WeightSource {
 public:
  RandomWeights(std::vector<DeclaredWeight> declared, const RandomWeightsOptions& options) : options_(options) {
    for (DeclaredWeight& weight : declared) {
      if (weight.dtype) check_made_of_floats(*weight.dtype);
      weights_.emplace(weight.name, weight);
    }
    check_made_of_floats(options.matrix_dtype);
  }

  std::string describe() const override { return "random weights"; }
  std::vector<std::string> names() const override { return keys_of(weights_); }
  std::optional<StoredType> find(const std::string& name) const override {
    const auto it = weights_.find(name);
    if (it == weights_.end()) return std::nullopt;
    return StoredType{dtype(it->second), it->second.sizes};
  }
  Tensor read(const std::string& name) const override {
    const auto it = weights_.find(name);
    if (it == weights_.end()) fail_no_tensor(*this, name);
    {
      const std::lock_guard lock(mutex_);
      if (const auto made = made_.find(name); made != made_.end()) return made->second.view();
    }
    HostTensor tensor = make(it->second);  // without the lock: several threads may make several tensors
    const std::lock_guard lock(mutex_);
    return made_.try_emplace(name, std::move(tensor)).first->second.view();
  }
  std::shared_ptr<const void> owner(const std::string& name) const override {
    const std::lock_guard lock(mutex_);
    const auto made = made_.find(name);
    return made == made_.end() ? nullptr : std::make_shared<HostTensor>(made->second);
  }
  void release(const std::string& name) const override {
    const std::lock_guard lock(mutex_);
    made_.erase(name);
  }

 private:
  // Throws now rather than later.
  static void check_made_of_floats(DType dtype) {
    const float zeros[256] = {};
    std::byte block[1024];
    from_float(dtype, zeros, block, info(dtype).block_elements);
  }

  DType dtype(const DeclaredWeight& weight) const {
    if (weight.dtype) return *weight.dtype;
    const Sizes& sizes = weight.sizes;
    if (sizes.rank() < 2) return DType::kF32;
    return sizes[-1] % info(options_.matrix_dtype).block_elements == 0 ? options_.matrix_dtype : DType::kF16;
  }

  HostTensor make(const DeclaredWeight& weight) const {
    const uint64_t start = hash_name(weight.name, options_.seed);
    const float mean = scales_a_norm(weight) ? 1.0f : 0.0f;
    HostTensor tensor(dtype(weight), weight.sizes);
    float values[kChunk];
    const int64_t count = weight.sizes.numel();
    for (int64_t at = 0; at < count; at += kChunk) {
      const int64_t n = std::min(kChunk, count - at);
      for (int64_t i = 0; i < n; i += 2) {  // may make one value more than is wanted: kChunk is even
        const uint64_t bits = mix(start + uint64_t(at + i) * 0x9e3779b97f4a7c15u);
        values[i] = mean + kDeviation * about_normal(uint32_t(bits));
        values[i + 1] = mean + kDeviation * about_normal(uint32_t(bits >> 32));
      }
      from_float(tensor.view().dtype, values, tensor.as<std::byte>() + storage_bytes(tensor.view().dtype, at), n);
    }
    return tensor;
  }

  RandomWeightsOptions options_;
  std::map<std::string, DeclaredWeight> weights_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, HostTensor> made_;
};

}  // namespace

std::shared_ptr<WeightSource> random_weights(std::vector<DeclaredWeight> declared, const RandomWeightsOptions& options) {
  return std::make_shared<RandomWeights>(std::move(declared), options);
}

}  // namespace headrace
