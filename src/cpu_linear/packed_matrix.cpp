#include "cpu_linear/packed_matrix.h"

#include <algorithm>
#include <cstring>

#include "core/blocks.h"
#include "core/error.h"
#include "cpu_linear/kernel_table.h"
#include "cpu_linear/row_blocks.h"

namespace headrace {
namespace {

PanelKind panel_kind(DType dtype, CpuIsa isa, Arithmetic arithmetic) {
  switch (dtype) {
    case DType::kF32: return PanelKind::kF32;
    case DType::kF16: return PanelKind::kF16;
    case DType::kBF16: return arithmetic == Arithmetic::kFast && isa == CpuIsa::kAvx512Bf16 ? PanelKind::kBF16Dot : PanelKind::kBF16;
    default: {
      const PanelKind kind = integer_panel_kind(dtype);
      if (arithmetic == Arithmetic::kExact) return PanelKind::kF32;
      return kind == PanelKind::kQ8 && isa == CpuIsa::kAvx2 ? PanelKind::kQ8Words : kind;
    }
  }
}

// Elements of `Bytes` bytes each: block b of the panel holds element b of every row.
template <typename Element>
void pack_elements(const std::byte* const* rows, int num_rows, int64_t count, std::byte* panel) {
  for (int64_t i = 0; i < count; ++i)
    for (int r = 0; r < num_rows; ++r)
      std::memcpy(panel + (i * kPanelRows + r) * sizeof(Element), rows[r] + i * sizeof(Element), sizeof(Element));
}

// One row's 32 elements into lane `row` of a block.
void put_lane(const PanelFormat& format, const RowBlock& source, int row, uint8_t* block) {
  uint32_t quads[8];
  std::memcpy(quads, source.q, 32);
  const auto put = [&](int vector, uint32_t value) { std::memcpy(block + vector * 64 + row * 4, &value, 4); };
  uint8_t* at = block + 64 * format.bits;
  if (format.bits == 8) {
    for (int t = 0; t < 8; ++t) put(t, quads[t]);
  } else {
    for (int j = 0; j < 4; ++j) put(j, (quads[2 * j] & 0x0f0f0f0fu) | (quads[2 * j + 1] & 0x0f0f0f0fu) << 4);
    if (format.bits == 5)
      for (int t = 0; t < 8; ++t) {
        // Gathers bit 4 of four bytes into four bits.
        const uint32_t four = ((quads[t] >> 4 & 0x01010101u) * 0x10204080u) >> 28;
        uint64_t mask;
        std::memcpy(&mask, block + 256 + t * 8, 8);
        mask |= uint64_t(four) << (4 * row);
        std::memcpy(block + 256 + t * 8, &mask, 8);
      }
    if (format.bits == 6)
      for (int u = 0; u < 2; ++u) {
        uint32_t pairs = 0;
        for (int s = 0; s < 4; ++s) pairs |= (quads[4 * u + s] >> 4 & 0x03030303u) << (2 * s);
        put(4 + u, pairs);
      }
  }
  for (int g = 0; g < format.groups; ++g, at += 32) std::memcpy(at + row * 2, &source.scale[g], 2);
  if (format.affine)
    for (int g = 0; g < format.groups; ++g, at += 32) std::memcpy(at + row * 2, &source.minimum[g], 2);
}

void pack_blocks(const PanelFormat& format, RowBlockReader read, const std::byte* const* rows, int num_rows, int64_t num_blocks,
                 std::byte* panel) {
  RowBlock block;
  for (int64_t b = 0; b < num_blocks; ++b)
    for (int r = 0; r < num_rows; ++r) {
      read(reinterpret_cast<const uint8_t*>(rows[r]), b, block);
      put_lane(format, block, r, reinterpret_cast<uint8_t*>(panel) + b * format.block_bytes);
    }
}

// Looks at some rows.
bool sample_is_worth_coding(const Tensor& weight) {
  constexpr int64_t kSampledRows = 64;
  const int64_t n = weight.sizes[0], k = weight.sizes[1], rows = std::min(n, kSampledRows);
  std::vector<uint16_t> sample(size_t(rows * k));
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(&sample[size_t(i * k)], weight.as<const std::byte>() + i * n / rows * k * 2, size_t(k) * 2);
  return is_worth_coding(sample.data(), int64_t(sample.size()));
}

}  // namespace

PackedMatrix PackedMatrix::pack(const Tensor& weight, CpuIsa isa, Arithmetic arithmetic, std::shared_ptr<HugePageArena> arena,
                                ThreadPool& pool) {
  if (weight.rank() != 2 || !weight.is_contiguous())
    invalid("a matrix to pack has shape {}: wanted two axes, contiguous", weight.sizes.to_string());
  PackedMatrix m;
  m.n_ = weight.sizes[0];
  m.k_ = weight.sizes[1];
  if (m.n_ < 1 || m.k_ < 1 || m.k_ % info(weight.dtype).block_elements != 0)
    invalid("a {} matrix to pack has shape {}: wanted rows of whole blocks", name(weight.dtype), weight.sizes.to_string());
  m.isa_ = isa;
  m.kind_ = panel_kind(weight.dtype, isa, arithmetic);
  if (is_block(weight.dtype) && arithmetic == Arithmetic::kExact) {
    m.source_ = weight;
    m.stored_panel_bytes_ = storage_bytes(weight.dtype, m.k_) * kPanelRows;
    return m;
  }
  m.is_coded_ = weight.dtype == DType::kBF16 && sample_is_worth_coding(weight);
  const PanelFormat format = format_of(m.kind_);
  m.stored_panel_bytes_ = m.is_coded_ ? coded_bf16_bytes(m.k_) : (m.k_ + format.block_k - 1) / format.block_k * format.block_bytes;
  m.panels_ = arena->allocate(m.bytes());
  pool.run([&](Team& team) {
    std::vector<uint16_t> raw(m.is_coded_ ? size_t(coded_groups(m.k_) * kRawGroupBytes / 2) : 0);
    team.for_each(m.num_panels(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        std::byte* panel = m.panels_ + p * m.stored_panel_bytes();
        if (!m.is_coded_) {
          m.pack_panel(weight, p, panel);
          continue;
        }
        std::fill(raw.begin(), raw.end(), uint16_t(0));
        m.pack_panel(weight, p, reinterpret_cast<std::byte*>(raw.data()));
        if (encode_bf16(raw.data(), m.k_, panel)) continue;
        std::byte* apart = arena->allocate(int64_t(raw.size()) * 2);
        std::memcpy(apart, raw.data(), raw.size() * 2);
        reinterpret_cast<CodedBf16Header*>(panel)->raw = apart;
      }
    });
  });
  m.arena_ = std::move(arena);
  return m;
}

void PackedMatrix::pack_panel(const Tensor& weight, int64_t index, std::byte* out) const {
  const int num_rows = int(std::min<int64_t>(kPanelRows, n_ - index * kPanelRows));
  const int64_t row_bytes = storage_bytes(weight.dtype, k_);
  const std::byte* rows[kPanelRows];
  for (int r = 0; r < num_rows; ++r) rows[r] = weight.as<const std::byte>() + (index * kPanelRows + r) * row_bytes;
  switch (kind_) {
    case PanelKind::kF32: return pack_elements<uint32_t>(rows, num_rows, k_, out);
    case PanelKind::kF16: return pack_elements<uint16_t>(rows, num_rows, k_, out);
    case PanelKind::kBF16:
    case PanelKind::kBF16Dot:
      pack_elements<uint32_t>(rows, num_rows, k_ / 2, out);
      if (k_ % 2)
        for (int r = 0; r < num_rows; ++r) std::memcpy(out + (k_ / 2 * kPanelRows + r) * 4, rows[r] + (k_ - 1) * 2, 2);
      return;
    default: pack_blocks(format_of(kind_), row_block_reader(weight.dtype), rows, num_rows, k_ / 32, out);
  }
}

void PackedMatrix::widen(int64_t panel, int64_t begin, int64_t end, float* out) const {
  constexpr int kMaxBlock = 256;
  float values[kMaxBlock];
  const int64_t row_bytes = storage_bytes(source_.dtype, k_);
  for (int r = 0; r < kPanelRows; ++r) {
    const int64_t row = panel * kPanelRows + r;
    for (int64_t at = begin; at < end; at += kMaxBlock) {
      const int count = int(std::min<int64_t>(kMaxBlock, end - at));
      if (row < n_)
        to_float(source_.dtype, source_.as<const std::byte>() + row * row_bytes + storage_bytes(source_.dtype, at), values, count);
      for (int i = 0; i < count; ++i) out[(at - begin + i) * kPanelRows + r] = row < n_ ? values[i] : 0.0f;
    }
  }
}

}  // namespace headrace
