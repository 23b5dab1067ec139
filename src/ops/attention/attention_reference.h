// Attention of one token and one head, as its formula says: for the references of attention and paged_attention.
#pragma once

#include <functional>
#include <span>

#include "ops/attention/attention.h"

namespace headrace {

// The keys that the token at `position` of a sequence of `length` tokens sees: [begin, end).
struct VisibleKeys {
  int64_t begin, end;
};
VisibleKeys visible_keys(const Attention& a, int64_t position, int64_t length);

// y (head_dim) = sum of softmax(scores) * value(j) over the visible j; zero when there is none. key, value: (head_dim) of position j.
using VectorAt = std::function<const float*(int64_t)>;
void attend(const Attention& a, VisibleKeys visible, const float* q, const VectorAt& key, const VectorAt& value, float* y);

}  // namespace headrace
