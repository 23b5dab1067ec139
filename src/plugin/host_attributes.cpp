#include "plugin/call_context.h"
#include "plugin/handles.h"
#include "plugin/host.h"
#include "plugin/plugin_attributes.h"

namespace headrace {
namespace {

using Context = headrace_context*;
using Of = const headrace_attributes*;

template <typename T>
T read(Of attributes, const char* name, headrace_field_kind kind) {
  T value{};
  const std::string text = attribute_text(of_c(attributes), name, kind);
  try {
    detail::from_text(text, value);
  } catch (const Error& e) {
    fail_attribute(name, e.what());
  }
  return value;
}

}  // namespace

void add_attribute_functions(headrace_host& h) {
  h.attribute_bool = [](Context c, Of a, const char* name, int32_t* to) {
    return answer(c, [&](CallContext&) { *to = read<bool>(a, name, HEADRACE_FIELD_BOOL); });
  };
  h.attribute_int = [](Context c, Of a, const char* name, int64_t* to) {
    return answer(c, [&](CallContext&) { *to = read<int64_t>(a, name, HEADRACE_FIELD_INT); });
  };
  h.attribute_float = [](Context c, Of a, const char* name, double* to) {
    return answer(c, [&](CallContext&) { *to = read<double>(a, name, HEADRACE_FIELD_FLOAT); });
  };
  h.attribute_string = [](Context c, Of a, const char* name, const char** to) {
    return answer(c, [&](CallContext& call) {
      std::string text = attribute_text(of_c(a), name, HEADRACE_FIELD_STRING);
      if (text.starts_with('"')) detail::from_text(std::string(text), text);  // else an enum's word
      *to = call.keep(std::move(text)).c_str();
    });
  };
  h.attribute_ints = [](Context c, Of a, const char* name, const int64_t** to, size_t* num) {
    return answer(c, [&](CallContext& call) {
      const auto& values = call.keep(read<std::vector<int64_t>>(a, name, HEADRACE_FIELD_INTS));
      *to = values.data(), *num = values.size();
    });
  };
  h.attribute_floats = [](Context c, Of a, const char* name, const float** to, size_t* num) {
    return answer(c, [&](CallContext& call) {
      const auto& values = call.keep(read<std::vector<float>>(a, name, HEADRACE_FIELD_FLOATS));
      *to = values.data(), *num = values.size();
    });
  };
  h.attribute_dtype = [](Context c, Of a, const char* name, headrace_dtype* to) {
    return answer(c, [&](CallContext&) { *to = to_c(read<DType>(a, name, HEADRACE_FIELD_DTYPE)); });
  };
  h.attribute_text = [](Context c, Of a, const char* name, const char** to) {
    return answer(c, [&](CallContext& call) { *to = call.keep(attribute_text(of_c(a), name, 0)).c_str(); });
  };
}

}  // namespace headrace
