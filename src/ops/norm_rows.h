// How the norms' kernels go through their rows.
#pragma once

#include "device/device.h"
#include "ops/strided_loop.h"

namespace headrace {

// For this thread's share of the rows: body(x, y, sum, out, n), with n elements each. A launch with two results is a norm of x + y:
// the sum goes to `sum`, its norm to `out`; with one result y is null, and `sum` is `out`.
template <typename Body>
void for_each_norm_row(const Team& team, const Launch& launch, Body&& body) {
  const bool adds = launch.outputs.size() == 2;
  const Tensor &x = launch.inputs[0], &y = launch.inputs[adds ? 1 : 0];
  const Rows x_rows(x), y_rows(y);
  const int64_t n = x_rows.length();
  const auto [begin, end] = team.share(x_rows.count());
  for (int64_t row = begin; row < end; ++row) {  // rows that are not dense are gathered where the results will be
    float *sum = launch.outputs[0].as<float>() + row * n, *out = launch.outputs.back().as<float>() + row * n;
    const float* x_row = dense(x.as<float>() + x_rows.offset(row), x_rows.step(), n, out);
    const float* y_row = adds ? dense(y.as<float>() + y_rows.offset(row), y_rows.step(), n, sum) : nullptr;
    body(x_row, y_row, sum, out, n);
  }
}

}  // namespace headrace
