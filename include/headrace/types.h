// The vocabulary that every part of Headrace shares: element types, shapes, tensor views and errors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

// ---------------------------------------------------------------------------------------------------------------- errors

enum class ErrorCode { kInvalidArgument, kNotFound, kUnsupported, kOutOfMemory, kInternal };

// A bad file, flag or model. The message says where, what was found, what was wanted and what to do.
struct Error : std::runtime_error {
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code(code) {}
  ErrorCode code;
};

// Of the library that is linked: "0.1.0".
std::string_view version();

// ---------------------------------------------------------------------------------------------------------------- element types

// How the elements of a tensor are stored. The block types are GGUF's: a block of consecutive elements of a row shares its scales.
// clang-format off
enum class DType : uint8_t {
  kF32, kF16, kBF16, kI64, kI32, kI8, kU8, kBool,
  kQ8_0, kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ2_K, kQ3_K, kQ4_K, kQ5_K, kQ6_K, kIQ4_NL,
};
// clang-format on
inline constexpr int kNumDTypes = 19;

struct DTypeInfo {
  std::string_view name;  // as printed and parsed: "f32", "q4_1"
  int block_elements;     // 1 unless a block type
  int block_bytes;        // bytes of one block (of one element unless a block type)
};
const DTypeInfo& info(DType dtype);
inline std::string_view name(DType dtype) { return info(dtype).name; }
std::optional<DType> parse_dtype(std::string_view name);
inline bool is_block(DType dtype) { return info(dtype).block_elements > 1; }
inline bool is_float(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16; }
inline bool is_integer(DType d) { return d == DType::kI64 || d == DType::kI32 || d == DType::kI8 || d == DType::kU8; }
// Bytes of `num_elements` consecutive elements; a block type wants a multiple of its block. No overflow check: see checked_bytes.
inline int64_t storage_bytes(DType dtype, int64_t num_elements) {
  return num_elements / info(dtype).block_elements * info(dtype).block_bytes;
}

// ---------------------------------------------------------------------------------------------------------------- sizes

inline constexpr int kMaxRank = 8;

// Concrete sizes or strides, held in place.
class Sizes {
 public:
  Sizes() = default;
  Sizes(std::initializer_list<int64_t> values);
  explicit Sizes(std::span<const int64_t> values);
  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return values_[axis < 0 ? axis + rank_ : axis]; }
  int64_t& operator[](int axis) { return values_[axis < 0 ? axis + rank_ : axis]; }
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + rank_; }
  void push_back(int64_t value);
  int64_t numel() const;
  std::string to_string() const;  // "[3, 576]"
  bool operator==(const Sizes& other) const;

 private:
  std::array<int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

// ---------------------------------------------------------------------------------------------------------------- symbolic shapes

using SymbolValues = std::map<std::string, int64_t>;

// A size that may not be known before run time: a polynomial with integer coefficients over named symbols, in canonical form,
// so that equal sizes compare equal: tokens * 4 + 1 == 1 + 4 * tokens.
class Dim {
 public:
  Dim(int64_t value = 0);  // NOLINT: a number is a size
  static Dim symbol(std::string name);
  // The inverse of to_string. Throws Error(kInvalidArgument).
  static Dim parse(std::string_view text);

  bool is_constant() const;
  int64_t value() const;  // of a constant; throws Error(kInvalidArgument) otherwise
  // Throws Error(kNotFound) when a symbol has no value.
  int64_t evaluate(const SymbolValues& symbols) const;
  // The exact quotient, if there is one.
  std::optional<Dim> divided_by(const Dim& divisor) const;
  std::string to_string() const;
  void collect_symbols(std::vector<std::string>& names) const;

  Dim operator+(const Dim& other) const;
  Dim operator-(const Dim& other) const;
  Dim operator*(const Dim& other) const;
  bool operator==(const Dim&) const = default;

 private:
  using Monomial = std::vector<std::string>;  // sorted, with repeats: {a, a, b} is a^2 b; {} is 1
  std::map<Monomial, int64_t> terms_;         // no zero coefficients
};

// The sizes of a tensor, outermost first.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}

  int rank() const { return int(dims_.size()); }
  // Negative axes count from the back, as in PyTorch. Throws Error(kInvalidArgument) when out of range.
  const Dim& operator[](int axis) const;
  Dim& operator[](int axis);
  const std::vector<Dim>& dims() const { return dims_; }
  Dim numel() const;
  bool is_constant() const;  // all of its sizes are numbers
  Sizes sizes() const;       // those numbers; throws Error(kInvalidArgument) when one is none
  void push_back(Dim dim) { dims_.push_back(std::move(dim)); }
  std::string to_string() const;  // "[tokens, 576]"
  bool operator==(const Shape&) const = default;

 private:
  std::vector<Dim> dims_;
};

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  std::string to_string() const;  // "f32[tokens, 576]"
  bool operator==(const TensorType&) const = default;
};

// ---------------------------------------------------------------------------------------------------------------- tensors

// A view of memory that somebody else owns. Strides count elements; block types have contiguous rows (the last axis).
// A Tensor of constants is never written to, though its pointer could.
struct Tensor {
  void* data = nullptr;
  DType dtype = DType::kF32;
  Sizes sizes;
  Sizes strides;

  static Tensor contiguous(void* data, DType dtype, const Sizes& sizes);
  static Tensor contiguous(const void* data, DType dtype, const Sizes& sizes) { return contiguous(const_cast<void*>(data), dtype, sizes); }
  // Of memory that is not there yet.
  static Tensor contiguous(std::nullptr_t, DType dtype, const Sizes& sizes) {
    return contiguous(static_cast<void*>(nullptr), dtype, sizes);
  }
  int rank() const { return sizes.rank(); }
  int64_t numel() const { return sizes.numel(); }
  bool is_contiguous() const;
  int64_t bytes() const { return storage_bytes(dtype, numel()); }  // of a contiguous tensor
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
  // Row `i` of the tensor seen as (numel / last, last); leading axes must be contiguous among themselves.
  template <typename T>
  T* row(int64_t i) const {
    return static_cast<T*>(data) + i * row_stride();
  }
  int64_t row_stride() const { return rank() < 2 ? (rank() == 1 ? sizes[0] : 1) : strides[-2]; }
  int64_t num_rows() const { return rank() == 0 ? 1 : (sizes[-1] == 0 ? 0 : numel() / sizes[-1]); }
};

// A contiguous tensor in host memory that owns its bytes (64-byte aligned, zeroed).
class HostTensor {
 public:
  HostTensor() = default;
  HostTensor(DType dtype, const Sizes& sizes);
  template <typename T>
  HostTensor(DType dtype, const Sizes& sizes, std::span<const T> values) : HostTensor(dtype, sizes) {
    std::copy(values.begin(), values.end(), view_.as<T>());
  }
  const Tensor& view() const { return view_; }
  operator const Tensor&() const { return view_; }  // NOLINT: a HostTensor is a Tensor with an owner
  template <typename T>
  T* as() const {
    return view_.as<T>();
  }

 private:
  std::shared_ptr<void> bytes_;
  Tensor view_;
};

// ---------------------------------------------------------------------------------------------------------------- models

// How a model is used: a decoder writes token after token, an encoder gives vectors of whole texts.
enum class ModelKind { kDecoder, kEncoder };
inline std::string_view name(ModelKind kind) { return kind == ModelKind::kDecoder ? "decoder" : "encoder"; }

// What is needed to run a model beyond its graph.
struct ModelInfo {
  ModelKind kind = ModelKind::kDecoder;
  int64_t vocab_size = 0;
  int64_t max_positions = 0;  // the longest context that it was made for
};

}  // namespace headrace
