// Table of contents: every op that Headrace knows.
#include "ops/ops.h"

#include "ops/arange/arange.h"
#include "ops/attention/attention.h"
#include "ops/binary/binary.h"
#include "ops/cast/cast.h"
#include "ops/collectives/collectives.h"
#include "ops/compare/compare.h"
#include "ops/concat/concat.h"
#include "ops/conv/conv.h"
#include "ops/embedding/embedding.h"
#include "ops/fused_linear/fused_linear.h"
#include "ops/gated/gated.h"
#include "ops/gather/gather.h"
#include "ops/group_norm/group_norm.h"
#include "ops/index_select/index_select.h"
#include "ops/kv_write/kv_write.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"
#include "ops/matmul/matmul.h"
#include "ops/pad/pad.h"
#include "ops/paged_attention/paged_attention.h"
#include "ops/pool/pool.h"
#include "ops/qkv_post/qkv_post.h"
#include "ops/quantize/quantize.h"
#include "ops/reduce/reduce.h"
#include "ops/region/region.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rope/rope.h"
#include "ops/scaled_dot_product_attention/scaled_dot_product_attention.h"
#include "ops/softmax/softmax.h"
#include "ops/topk/topk.h"
#include "ops/unary/unary.h"
#include "ops/views/views.h"
#include "ops/where/where.h"

namespace headrace {

void register_ops(OpRegistry& ops) {
  // Element by element.
  register_binary(ops);   // add sub mul div pow maximum minimum remainder
  register_unary(ops);    // neg abs square sign floor ceil round relu exp log sqrt rsqrt tanh sigmoid silu erf sin cos gelu
  register_compare(ops);  // eq ne lt le gt ge logical_and logical_or logical_xor
  register_cast(ops);
  register_quantize(ops);  // and dequantize
  register_where(ops);
  register_gated(ops);
  // Along an axis.
  register_softmax(ops);     // and log_softmax
  register_reduce(ops);      // sum prod mean max min argmax cumsum
  register_rms_norm(ops);    // and add_rms_norm
  register_layer_norm(ops);  // and add_layer_norm
  register_group_norm(ops);
  register_topk(ops);
  // Arrangement and choice.
  register_views(ops);  // view permute slice expand
  register_concat(ops);
  register_pad(ops);
  register_arange(ops);
  register_index_select(ops);
  register_gather(ops);
  register_embedding(ops);
  // Products and positions.
  register_matmul(ops);
  register_linear(ops);
  register_conv(ops);  // conv1d conv2d
  register_pool(ops);  // max_pool1d max_pool2d avg_pool1d avg_pool2d
  register_fused_linear(ops);
  register_rope(ops);  // and rope_table
  // Attention and its cache.
  register_attention(ops);
  register_scaled_dot_product_attention(ops);
  register_kv_write(ops);
  register_paged_attention(ops);
  register_qkv_post(ops);
  // Between ranks.
  register_collectives(ops);  // all_reduce all_gather reduce_scatter send recv
  // Several of the above in one.
  register_region(ops);
}

std::shared_ptr<const OpRegistry> builtin_ops() {
  static const std::shared_ptr<const OpRegistry> ops = [] {
    auto made = std::make_shared<OpRegistry>();
    register_ops(*made);
    return made;
  }();
  return ops;
}

}  // namespace headrace
