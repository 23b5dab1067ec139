#include "cpu_linear/fused_linear.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"

namespace headrace {
namespace {

// Up to this many activations every thread prepares for itself, which costs less than a barrier.
constexpr int64_t kPrivateElements = 8192;
// A thread takes work in pieces of about this many bytes of weights, unless there are too few pieces to share out.
constexpr int64_t kPieceBytes = 128 << 10;
constexpr int kPiecesPerThread = 4;
constexpr int64_t kPartTiles = 16;  // tiles of rows that a thread keeps to itself
constexpr int kMaxPanels = 2;       // that are in work at once
// How far ahead weights are prefetched that are read once. Of one row: fp32 and 8 bits not at all, the processor does it better; fewer
// bits, with more arithmetic to a byte, kSmallBytesAhead; 16-bit floats, which are decoded, kDecodedBytesAhead. Integers of several rows,
// whose arithmetic holds up the stream: kBytesAhead. Two panels at once: to the next two, unless they are larger than kMostBytesAhead.
constexpr int64_t kSmallBytesAhead = 4 << 10;
constexpr int64_t kDecodedBytesAhead = 16 << 10;
constexpr int64_t kBytesAhead = 8 << 10;
constexpr int64_t kMostBytesAhead = 64 << 10;
// A source is widened for a single tile in pieces of so many k, which stay in a near cache.
constexpr int64_t kWidenedK = 512;

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
int64_t divide_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }

bool gated(const LinearSpec& spec) { return spec.combine == Combine::kGated; }
bool any_source(const LinearSpec& spec) {
  return std::any_of(spec.weights.begin(), spec.weights.end(), [](const PackedMatrix* m) { return m->is_source(); });
}

// Bytes of a panel in the form that kernels read, padded to whole groups of coded panels.
int64_t expanded_bytes(const PackedMatrix& m, int64_t k) {
  const PanelFormat format = format_of(m.kind());
  return round_up(k, kCodedGroupK) / format.block_k * format.block_bytes;
}

// Where things lie in the workspace: activations once per form that the matrices want, shared or per thread; then scratch per thread.
struct Workspace {
  int64_t row_bytes[kNumActivationKinds] = {};  // of a form; 0: not wanted
  int64_t private_rows = 0, private_bytes = 0, shared_bytes = 0, scratch_bytes = 0;

  Workspace(const LinearSpec& spec, int64_t rows) {
    const int64_t k = spec.k();
    for (const PackedMatrix* m : spec.weights) {
      const ActivationKind kind = format_of(m->kind()).activations;
      row_bytes[int(kind)] = activation_row_bytes(kind, k);
    }
    private_rows = std::min(rows, kPrivateElements / k);
    private_bytes = activation_bytes(private_rows);
    shared_bytes = activation_bytes(rows);
    int64_t panel_bytes = 0;
    for (const PackedMatrix* m : spec.weights)
      if (!m->is_direct()) panel_bytes = std::max(panel_bytes, expanded_bytes(*m, k));
    scratch_bytes = kMaxPanels * panel_bytes;
  }
  int64_t activation_bytes(int64_t rows) const {
    int64_t sum = 0;
    for (int64_t b : row_bytes) sum += round_up(b * rows, 64);
    return sum;
  }
};

// Rows in tiles of nearly equal size, at most `largest`.
struct Tiles {
  int64_t rows, count;
  Tiles(int64_t rows, int largest) : rows(rows), count(divide_up(rows, largest)) {}
  int64_t begin(int64_t tile) const { return tile * rows / count; }
  int size(int64_t tile) const { return int(begin(tile + 1) - begin(tile)); }
};

// The state of one call on one thread.
class Call {
 public:
  Call(Team& team, const LinearSpec& spec, const LinearRows& rows, std::byte* workspace)
      : team_(team), spec_(spec), rows_(rows), table_(kernel_table(spec.weights[0]->isa())), layout_(spec, rows.rows),
        tiles_(rows.rows, largest_tile()) {
    const bool is_private = rows.rows <= layout_.private_rows;
    std::byte* at = workspace + (is_private ? team.rank() * layout_.private_bytes : 0);
    for (int form = 0; form < kNumActivationKinds; ++form) {
      activations_[form] = at;
      at += round_up(layout_.row_bytes[form] * rows.rows, 64);
    }
    const int64_t activations = is_private ? team.size() * layout_.private_bytes : layout_.shared_bytes;
    expanded_ = workspace + activations + team.rank() * layout_.scratch_bytes;
    if (is_private) {
      prepare(0, tiles_.count);
    } else {
      const Team::Range own = team.share(tiles_.count);
      prepare(own.begin, own.end);
      arrival_ = team.arrive();
    }
  }

  void run() {
    if (gated(spec_)) {
      share_out(spec_.weights[0]->num_panels(),
                [&](int64_t item, int64_t tile_begin, int64_t tile_end) { gate_panels(item, tile_begin, tile_end); });
      return;
    }
    int64_t items = 0;
    for (const PackedMatrix* m : spec_.weights) items += divide_up(m->num_panels(), panels_per_item());
    share_out(items, [&](int64_t item, int64_t tile_begin, int64_t tile_end) {
      int64_t column = 0;
      for (size_t i = 0; i < spec_.weights.size(); column += spec_.weights[i++]->n()) {
        const int64_t count = divide_up(spec_.weights[i]->num_panels(), panels_per_item());
        if (item < count) return plain_panels(int(i), column, item * panels_per_item(), tile_begin, tile_end);
        item -= count;
      }
    });
  }

 private:
  int largest_tile() const {
    int rows = kMaxTileRows;
    for (const PackedMatrix* m : spec_.weights) rows = std::min(rows, table_.tile_rows[int(m->kind())]);
    return rows;
  }

  int64_t panels_per_item() const { return any_source(spec_) ? 1 : kMaxPanels; }  // of one matrix

  void prepare(int64_t tile_begin, int64_t tile_end) {
    const LinearNorm& norm = spec_.norm;
    for (int64_t tile = tile_begin; tile < tile_end; ++tile)
      for (int form = 0; form < kNumActivationKinds; ++form) {
        if (layout_.row_bytes[form] == 0) continue;
        table_.prepare[form]({.x = rows_.x + tiles_.begin(tile) * rows_.x_stride,
                              .x_stride = rows_.x_stride,
                              .k = spec_.k(),
                              .rows = tiles_.size(tile),
                              .norm = norm.kind,
                              .norm_weight = norm.weight,
                              .norm_bias = norm.bias,
                              .eps = norm.eps,
                              .tile = activations_[form] + tiles_.begin(tile) * layout_.row_bytes[form]});
      }
  }

  // Rows are cut in parts, each of which takes all items. With many rows a thread stays with its own, as far as possible in every linear:
  // activations then seldom go from one core's cache to another's, and to decode weights once for each part costs less. With few items,
  // so that there is work for all threads; not when expanding panels is slow.
  int64_t num_parts(int64_t num_items) const {
    if (any_source(spec_)) return 1;
    const int64_t wanted = int64_t{team_.size()} * kPiecesPerThread;
    return std::clamp<int64_t>(wanted / num_items, std::clamp<int64_t>(tiles_.count / kPartTiles, 1, team_.size()), tiles_.count);
  }

  // Calls body(item, tile_begin, tile_end) for all items and tiles, on all threads: three quarters in fixed contiguous shares, which
  // memory likes best, the end of each share on whichever thread is free.
  template <typename Body>
  void share_out(int64_t num_items, Body&& body) {
    const int64_t parts = num_parts(num_items), count = num_items * parts;
    const auto range = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        body(i % num_items, i / num_items * tiles_.count / parts, (i / num_items + 1) * tiles_.count / parts);
    };
    const int64_t tail = team_.size() == 1 ? 0 : count / team_.size() / 4;
    const Team::Range own = team_.share(count);
    if (parts != team_.size()) wait_for_activations();  // else its share wants the rows that this thread prepared
    range(own.begin, own.end - tail);
    wait_for_activations();
    if (tail == 0) return;
    team_.for_each(tail * team_.size(), grain(num_items), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = team_.share_of(int(i / tail), count).end - tail + i % tail;
        range(at, at + 1);
      }
    });
  }

  void wait_for_activations() {
    if (arrival_) team_.wait_for_all(*std::exchange(arrival_, std::nullopt));
  }

  int64_t grain(int64_t num_items) const {
    if (tiles_.count > 1) return 1;
    int64_t bytes = 0;
    for (const PackedMatrix* m : spec_.weights) bytes += m->bytes();
    return std::clamp<int64_t>(kPieceBytes * num_items / bytes, 1, std::max<int64_t>(1, num_items / (team_.size() * kPiecesPerThread)));
  }

  // One or two panels that are in work at once.
  struct Panels {
    int count;
    const PackedMatrix* matrix[kMaxPanels];
    int64_t index[kMaxPanels];
  };

  // Asks for the lines of y and the residual that finish will touch, while there is time. (gcc takes a function that only prefetches for
  // one without effects and drops its calls, unless it is inlined before.)
  [[gnu::always_inline]] void prefetch_output(int64_t tile, int64_t column) const {
    for (int64_t row = tiles_.begin(tile); row < tiles_.begin(tile + 1); ++row) {
      const float* y = rows_.y + row * rows_.y_stride + column;
      __builtin_prefetch(y, 1);
      __builtin_prefetch(y + kPanelRows, 1);
      if (rows_.residual && rows_.residual != rows_.y) {
        __builtin_prefetch(rows_.residual + row * rows_.residual_stride + column);
        __builtin_prefetch(rows_.residual + row * rows_.residual_stride + column + kPanelRows);
      }
    }
  }

  // Calls use(tile, sums) with the sums [panel][row][16] of each tile.
  template <typename Use>
  void multiply(const Panels& panels, int64_t tile_begin, int64_t tile_end, Use&& use) {
    alignas(64) float sums[kMaxPanels * kMaxTileRows * kPanelRows];
    const bool single = tile_end - tile_begin == 1;
    Operand operands[kMaxPanels];
    for (int i = 0; i < panels.count; ++i) operands[i] = operand(panels, i, single);
    for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
      multiply_tile(operands, panels.count, tile, tile + 1 == tile_end, sums);
      for (int i = 0; i < panels.count; ++i)
        if (operands[i].decoded) operands[i] = {.matrix = operands[i].matrix, .data = operands[i].decoded};
      if (!single) prefetch_next(panels, tile - tile_begin, tile_end - tile_begin);
      use(tile, sums);
    }
  }

  // Multiplying many tiles by panels that were decoded beforehand leaves memory idle: time to fetch the panels that come next.
  [[gnu::always_inline]] void prefetch_next(const Panels& panels, int64_t part, int64_t num_parts) const {
    for (int i = 0; i < panels.count; ++i) {
      const PackedMatrix& m = *panels.matrix[i];
      const int64_t next = panels.index[i] + (gated(spec_) ? 1 : panels.count), bytes = m.stored_panel_bytes();
      if (!m.is_coded() || next >= m.num_panels()) continue;
      for (int64_t at = bytes * part / num_parts; at < bytes * (part + 1) / num_parts; at += 64)
        __builtin_prefetch(m.panel(next) + at, 0, 2);
    }
  }

  // A panel as a kernel takes it.
  struct Operand {
    const PackedMatrix* matrix;
    const std::byte* data;         // null: of a source, to be widened piece by piece
    int64_t source_panel = 0;      // then
    bool is_coded = false;         // decoded on the way
    std::byte* decoded = nullptr;  // where it is to be left decoded for the tiles that follow, unless null
    float* pieces = nullptr;       // where pieces of a source go
  };

  Operand operand(const Panels& panels, int i, bool single) {
    const PackedMatrix& m = *panels.matrix[i];
    const int64_t index = panels.index[i];
    std::byte* const scratch = expanded_ + i * expanded_bytes(m, spec_.k());
    if (m.is_direct()) return {.matrix = &m, .data = m.panel(index)};
    if (m.is_coded()) {
      const std::byte* raw = reinterpret_cast<const CodedBf16Header*>(m.panel(index))->raw;
      if (raw) return {.matrix = &m, .data = raw};
      return {.matrix = &m, .data = m.panel(index), .is_coded = true, .decoded = single ? nullptr : scratch};
    }
    float* const widened = reinterpret_cast<float*>(scratch);
    if (single) return {.matrix = &m, .data = nullptr, .source_panel = index, .pieces = widened};
    m.widen(index, 0, spec_.k(), widened);
    return {.matrix = &m, .data = scratch};
  }

  void multiply_tile(const Operand* operands, int count, int64_t tile, bool last, float* sums) {
    const Operand& o = operands[0];
    const int kind = int(o.matrix->kind()), rows = tiles_.size(tile);
    const auto alike = [&] { return int(operands[1].matrix->kind()) == kind && operands[1].is_coded == o.is_coded; };
    if (count == 2 && o.data && pairs_pay(o.matrix->kind()) && table_.tile_pair[kind][rows] && alike())
      return multiply_panels<2>(operands, table_.tile_pair, table_.coded_tile_pair, table_.decoding_tile_pair, tile, last, sums);
    for (int i = 0; i < count; ++i) {
      float* const out = sums + i * rows * kPanelRows;
      if (operands[i].data) multiply_panels<1>(operands + i, table_.tile, table_.coded_tile, table_.decoding_tile, tile, last, out);
      else multiply_pieces(operands[i], tile, out);
    }
  }

  const std::byte* activations(PanelFormat format, int64_t tile, int64_t k) const {
    const int form = int(format.activations);
    return activations_[form] + tiles_.begin(tile) * layout_.row_bytes[form] +
           activation_row_bytes(format.activations, k) * tiles_.size(tile);
  }

  template <int kPanels, typename Table, typename DecodingTable>
  void multiply_panels(const Operand* operands, const Table& plain, const Table& coded, const DecodingTable& decoding, int64_t tile,
                       bool last, float* sums) {
    const Operand& o = operands[0];
    const PanelFormat format = format_of(o.matrix->kind());
    const int kind = int(o.matrix->kind()), rows = tiles_.size(tile);
    const int64_t num_blocks = divide_up(spec_.k(), format.block_k);
    const std::byte* data[kPanels];
    std::byte* decoded[kPanels];
    for (int i = 0; i < kPanels; ++i) data[i] = operands[i].data, decoded[i] = operands[i].decoded;
    const std::byte* x = activations(format, tile, 0);
    if (decoded[0]) return decoding[kind][rows](data, x, num_blocks, decoded, sums);
    const int64_t ahead = last && (o.is_coded || o.matrix->is_direct()) ? bytes_ahead(*o.matrix) : 0;
    (o.is_coded ? coded : plain)[kind][rows](data, x, num_blocks, ahead, nullptr, sums);
  }

  void multiply_pieces(const Operand& o, int64_t tile, float* sums) {
    const PanelFormat format = format_of(o.matrix->kind());
    const std::byte* piece = reinterpret_cast<const std::byte*>(o.pieces);
    for (int64_t begin = 0; begin < spec_.k(); begin += kWidenedK) {
      const int64_t end = std::min(spec_.k(), begin + kWidenedK);
      o.matrix->widen(o.source_panel, begin, end, o.pieces);
      table_.tile[int(o.matrix->kind())][tiles_.size(tile)](&piece, activations(format, tile, begin),
                                                            divide_up(end - begin, format.block_k), 0, begin == 0 ? nullptr : sums, sums);
    }
  }

  // Two panels at once share the loads of activations, but memory prefers one stream. So for many tiles, whose weights come from a
  // cache; and for a few rows of 16-bit floats, whose arithmetic takes longer than their bytes and whose sums all fit the registers.
  bool pairs_pay(PanelKind kind) const { return tiles_.count > 1 || (rows_.rows > 1 && rows_.rows <= 4 && is_short_float(kind)); }

  static bool is_short_float(PanelKind kind) { return format_of(kind).bits == 0 && kind != PanelKind::kF32; }

  int64_t bytes_ahead(const PackedMatrix& m) const {
    if (pairs_pay(m.kind())) {
      const int64_t item = m.stored_panel_bytes() * (gated(spec_) ? 1 : kMaxPanels);
      return item <= kMostBytesAhead ? item : kBytesAhead;
    }
    if (is_short_float(m.kind())) return kDecodedBytesAhead;
    if (rows_.rows > 1) return kBytesAhead;
    const int bits = format_of(m.kind()).bits;
    return bits > 0 && bits < 8 ? kSmallBytesAhead : 0;
  }

  const float* bias(int matrix) const { return spec_.biases.empty() ? nullptr : spec_.biases[size_t(matrix)]; }

  // A panel of a matrix; b: the sums of up, if a are those of gate.
  void finish(int64_t tile, const float* a, const float* b, int matrix, int64_t panel, int64_t column) {
    const int64_t first = panel * kPanelRows, row = tiles_.begin(tile);
    table_.finish({.a = a,
                   .b = b,
                   .bias = bias(matrix) ? bias(matrix) + first : nullptr,
                   .bias_b = b && bias(1) ? bias(1) + first : nullptr,
                   .residual = rows_.residual ? rows_.residual + row * rows_.residual_stride + column + first : nullptr,
                   .y = rows_.y + row * rows_.y_stride + column + first,
                   .residual_stride = rows_.residual_stride,
                   .y_stride = rows_.y_stride,
                   .rows = tiles_.size(tile),
                   .columns = int(std::min<int64_t>(kPanelRows, spec_.weights[size_t(matrix)]->n() - first)),
                   .activation = spec_.activation});
  }

  void plain_panels(int matrix, int64_t column, int64_t first_panel, int64_t tile_begin, int64_t tile_end) {
    const PackedMatrix* m = spec_.weights[size_t(matrix)];
    const int count = int(std::min<int64_t>(panels_per_item(), m->num_panels() - first_panel));
    prefetch_output(tile_begin, column + first_panel * kPanelRows);
    multiply({count, {m, m}, {first_panel, first_panel + 1}}, tile_begin, tile_end, [&](int64_t tile, const float* sums) {
      if (tile + 1 < tile_end) prefetch_output(tile + 1, column + first_panel * kPanelRows);
      for (int i = 0; i < count; ++i) finish(tile, sums + i * tiles_.size(tile) * kPanelRows, nullptr, matrix, first_panel + i, column);
    });
  }

  void gate_panels(int64_t index, int64_t tile_begin, int64_t tile_end) {
    prefetch_output(tile_begin, index * kPanelRows);
    multiply({2, {spec_.weights[0], spec_.weights[1]}, {index, index}}, tile_begin, tile_end, [&](int64_t tile, const float* sums) {
      if (tile + 1 < tile_end) prefetch_output(tile + 1, index * kPanelRows);
      finish(tile, sums, sums + tiles_.size(tile) * kPanelRows, 0, index, 0);
    });
  }

  Team& team_;
  const LinearSpec& spec_;
  const LinearRows& rows_;
  const KernelTable& table_;
  const Workspace layout_;
  const Tiles tiles_;
  std::byte* activations_[kNumActivationKinds];
  std::optional<uint32_t> arrival_;  // at the barrier that follows preparing, until it is passed
  std::byte* expanded_;
};

}  // namespace

int64_t LinearSpec::k() const { return weights[0]->k(); }

int64_t LinearSpec::n() const {
  if (combine == Combine::kGated) return weights[0]->n();
  int64_t n = 0;
  for (const PackedMatrix* m : weights) n += m->n();
  return n;
}

void verify(const LinearSpec& spec) {
  if (spec.weights.empty()) invalid("a linear has no matrix");
  if (gated(spec) && spec.weights.size() != 2) invalid("a gated linear has {} matrices: wanted gate and up", spec.weights.size());
  if (gated(spec) && spec.weights[0]->n() != spec.weights[1]->n())
    invalid("gate has {} rows and up {}: wanted the same", spec.weights[0]->n(), spec.weights[1]->n());
  if (!spec.biases.empty() && spec.biases.size() != spec.weights.size())
    invalid("a linear of {} matrices has {} biases", spec.weights.size(), spec.biases.size());
  for (const PackedMatrix* m : spec.weights)
    if (m->k() != spec.k() || m->isa() != spec.weights[0]->isa())
      invalid("a linear's matrices have k {} ({}) and {} ({}): wanted the same", spec.k(), name(spec.weights[0]->isa()), m->k(),
              name(m->isa()));
  if (spec.norm.kind != NormKind::kNone && !spec.norm.weight) invalid("a linear's norm has no weight");
}

int64_t workspace_bytes(const LinearSpec& spec, int64_t max_rows, int num_threads) {
  const Workspace w(spec, max_rows);
  return std::max(w.shared_bytes, num_threads * w.private_bytes) + num_threads * w.scratch_bytes;
}

void fused_linear(Team& team, const LinearSpec& spec, const LinearRows& rows, std::byte* workspace) {
  if (rows.rows > 0) Call(team, spec, rows, workspace).run();
}

}  // namespace headrace
