// Table of contents: every kernel. Within an op the preferred ones come first; an op's reference is always there as the last.
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
#include "ops/matmul/matmul.h"
#include "ops/ops.h"
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

void register_kernels(KernelRegistry& kernels) {
  register_binary_cpu(kernels);
  register_unary_cpu(kernels);
  register_compare_cpu(kernels);
  register_cast_cpu(kernels);
  register_quantize_cpu(kernels);  // and dequantize
  register_where_cpu(kernels);
  register_gated_cpu(kernels);
  register_softmax_cpu(kernels);  // and log_softmax
  register_reduce_cpu(kernels);
  register_rms_norm_cpu(kernels);    // and add_rms_norm
  register_layer_norm_cpu(kernels);  // and add_layer_norm
  register_group_norm_cpu(kernels);
  register_topk_cpu(kernels);
  register_views_cpu(kernels);
  register_concat_cpu(kernels);
  register_pad_cpu(kernels);
  register_index_select_cpu(kernels);
  register_gather_cpu(kernels);
  register_embedding_cpu(kernels);
  register_matmul_cpu(kernels);
  register_conv_depthwise_cpu(kernels);
  register_conv_cpu(kernels);
  register_pool_cpu(kernels);
  register_rope_cpu(kernels);  // and rope_table
  register_attention_cpu(kernels);
  register_scaled_dot_product_attention_cpu(kernels);
  register_kv_write_cpu(kernels);
  register_paged_attention_cpu(kernels);
  register_qkv_post_cpu(kernels);
  register_collectives_cpu(kernels);
  register_fused_linear_cpu(kernels);  // and linear
  register_region_cpu(kernels);        // and, after their own, single pointwise ops and reductions of other types than f32
}

std::shared_ptr<const KernelRegistry> builtin_kernels() {
  static const std::shared_ptr<const KernelRegistry> kernels = [] {
    auto made = std::make_shared<KernelRegistry>();
    register_kernels(*made);
    return made;
  }();
  return kernels;
}

}  // namespace headrace
