#include "ops/spelling.h"

#include "core/dtype.h"

namespace headrace {

Value number(Graph& graph, double value, DType dtype) {
  HostTensor scalar(dtype, Sizes{});
  dispatch(dtype, [&]<typename T>() {
    if constexpr (std::is_arithmetic_v<T>) scalar.as<T>()[0] = T(value);
    else scalar.as<T>()[0] = T(float(value));
  });
  return graph.constant(std::move(scalar));
}

Value cast_to(Graph& graph, Value x, DType dtype) { return x.dtype() == dtype ? x : graph.emit("cast", Cast{.dtype = dtype}, {x}); }

}  // namespace headrace
