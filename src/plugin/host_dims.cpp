#include "plugin/call_context.h"
#include "plugin/handles.h"
#include "plugin/host.h"

namespace headrace {
namespace {

using Context = headrace_context*;
using Of = const headrace_dim*;
using To = const headrace_dim**;

const headrace_dim* kept(CallContext& call, Dim dim) { return to_c(&call.keep(std::move(dim))); }

}  // namespace

void add_dim_functions(headrace_host& h) {
  h.dim_number = [](Context c, int64_t value, To to) { return answer(c, [&](CallContext& call) { *to = kept(call, value); }); };
  h.dim_parse = [](Context c, const char* text, To to) {
    return answer(c, [&](CallContext& call) { *to = kept(call, Dim::parse(text)); });
  };
  h.dim_add = [](Context c, Of a, Of b, To to) { return answer(c, [&](CallContext& call) { *to = kept(call, of_c(a) + of_c(b)); }); };
  h.dim_subtract = [](Context c, Of a, Of b, To to) { return answer(c, [&](CallContext& call) { *to = kept(call, of_c(a) - of_c(b)); }); };
  h.dim_multiply = [](Context c, Of a, Of b, To to) { return answer(c, [&](CallContext& call) { *to = kept(call, of_c(a) * of_c(b)); }); };
  h.dim_divide = [](Context c, Of a, Of b, To to) {
    return answer(c, [&](CallContext& call) {
      const std::optional<Dim> quotient = of_c(b) == Dim(0) ? std::nullopt : of_c(a).divided_by(of_c(b));
      if (!quotient) invalid("the size {} cannot be divided by {}", of_c(a).to_string(), of_c(b).to_string());
      *to = kept(call, *quotient);
    });
  };
  h.dim_value = [](Context c, Of dim, int64_t* to) { return answer(c, [&](CallContext&) { *to = of_c(dim).value(); }); };
  h.dim_is_number = [](Context, Of dim) { return int32_t{of_c(dim).is_constant()}; };
  h.dim_equal = [](Context, Of a, Of b) { return int32_t{of_c(a) == of_c(b)}; };
  h.dim_text = [](Context c, Of dim, const char** to) {
    return answer(c, [&](CallContext& call) { *to = call.keep(of_c(dim).to_string()).c_str(); });
  };
}

}  // namespace headrace
