#include "weights/gguf_types.h"

namespace headrace {
namespace {

struct ValueType {
  std::string_view name;
  size_t bytes;
};
constexpr ValueType kValueTypes[] = {{"u8", 1},   {"i8", 1},     {"u16", 2},   {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
                                     {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}};

struct ElementType {
  uint32_t number;
  std::string_view name;
  std::optional<DType> dtype = std::nullopt;
};
constexpr ElementType kElementTypes[] = {
    {0, "F32", DType::kF32},
    {1, "F16", DType::kF16},
    {2, "Q4_0", DType::kQ4_0},
    {3, "Q4_1", DType::kQ4_1},
    {6, "Q5_0", DType::kQ5_0},
    {7, "Q5_1", DType::kQ5_1},
    {8, "Q8_0", DType::kQ8_0},
    {9, "Q8_1"},
    {10, "Q2_K", DType::kQ2_K},
    {11, "Q3_K", DType::kQ3_K},
    {12, "Q4_K", DType::kQ4_K},
    {13, "Q5_K", DType::kQ5_K},
    {14, "Q6_K", DType::kQ6_K},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {20, "IQ4_NL", DType::kIQ4_NL},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {23, "IQ4_XS"},
    {24, "I8", DType::kI8},
    {25, "I16"},
    {26, "I32", DType::kI32},
    {27, "I64", DType::kI64},
    {28, "F64"},
    {29, "IQ1_M"},
    {30, "BF16", DType::kBF16},
    {34, "TQ1_0"},
    {35, "TQ2_0"},
    {39, "MXFP4"},
};

const ElementType* find_element_type(uint32_t number) {
  for (const ElementType& type : kElementTypes)
    if (type.number == number) return &type;
  return nullptr;
}

}  // namespace

std::string_view name(GgufType type) { return kValueTypes[int(type)].name; }
size_t bytes_of(GgufType type) { return kValueTypes[int(type)].bytes; }

std::optional<DType> ggml_dtype(uint32_t type) {
  const ElementType* known = find_element_type(type);
  return known ? known->dtype : std::nullopt;
}

std::string_view ggml_type_name(uint32_t type) {
  const ElementType* known = find_element_type(type);
  return known ? known->name : "unknown";
}

std::string supported_ggml_types() {
  std::string names;
  for (const ElementType& type : kElementTypes)
    if (type.dtype) names.append(names.empty() ? "" : ", ").append(type.name);
  return names;
}

}  // namespace headrace
