// The list of an instruction set's kernels. Included inside a namespace, last; before it: constexpr functions
// largest_tile(PanelKind) and pairs_up(PanelKind, int rows): whether the sums of two panels fit the registers.

template <PanelKind kKind, int kRows, int kPanels>
constexpr TileFunction tile_function() {
  if constexpr (kKind == PanelKind::kQ8Words && !kHasWordDots) return nullptr;
  else if constexpr (format_of(kKind).bits > 0) return integer_tile<kKind, kRows, kPanels>;
  else if constexpr (kKind == PanelKind::kBF16Dot && !kHasBf16Dot) return nullptr;
  else if constexpr (kKind == PanelKind::kBF16Dot || kKind == PanelKind::kBF16) return bf16_tile<kKind, kRows, kPanels>;
  else if constexpr (kKind == PanelKind::kF16) return f16_tile<kRows, kPanels>;
  else return f32_tile<kRows, kPanels>;
}

template <PanelKind kKind, int kRows, int kPanels>
constexpr TileFunction coded_tile_function() {
  if constexpr (kKind == PanelKind::kBF16 || (kKind == PanelKind::kBF16Dot && kHasBf16Dot)) return coded_bf16_tile<kKind, kRows, kPanels>;
  else return nullptr;
}

template <PanelKind kKind, int kRows, int kPanels>
constexpr DecodingTileFunction decoding_tile_function() {
  if constexpr (kKind == PanelKind::kBF16 || (kKind == PanelKind::kBF16Dot && kHasBf16Dot))
    return decoding_bf16_tile<kKind, kRows, kPanels>;
  else return nullptr;
}

template <PanelKind kKind, int kRows = largest_tile(kKind)>
constexpr void add_kind(KernelTable& table) {
  constexpr int kind = int(kKind);
  if constexpr (kRows == largest_tile(kKind)) table.tile_rows[kind] = kRows;
  table.tile[kind][kRows] = tile_function<kKind, kRows, 1>();
  table.coded_tile[kind][kRows] = coded_tile_function<kKind, kRows, 1>();
  table.decoding_tile[kind][kRows] = decoding_tile_function<kKind, kRows, 1>();
  if constexpr (pairs_up(kKind, kRows)) {
    table.tile_pair[kind][kRows] = tile_function<kKind, kRows, 2>();
    table.coded_tile_pair[kind][kRows] = coded_tile_function<kKind, kRows, 2>();
    table.decoding_tile_pair[kind][kRows] = decoding_tile_function<kKind, kRows, 2>();
  }
  if constexpr (kRows > 1) add_kind<kKind, kRows - 1>(table);
}

constexpr KernelTable make_table() {
  KernelTable table{};
  add_kind<PanelKind::kF32>(table);
  add_kind<PanelKind::kF16>(table);
  add_kind<PanelKind::kBF16>(table);
  add_kind<PanelKind::kBF16Dot>(table);
  add_kind<PanelKind::kQ8>(table);
  add_kind<PanelKind::kQ8Words>(table);
  add_kind<PanelKind::kQ4>(table);
  add_kind<PanelKind::kQ4Affine>(table);
  add_kind<PanelKind::kQ4Table>(table);
  add_kind<PanelKind::kQ5>(table);
  add_kind<PanelKind::kQ5Affine>(table);
  add_kind<PanelKind::kQ6Group16>(table);
  add_kind<PanelKind::kQ4Group16>(table);
  add_kind<PanelKind::kQ4AffineGroup16>(table);
  table.prepare[int(ActivationKind::kF32)] = prepare_f32;
  table.prepare[int(ActivationKind::kBF16)] = prepare_bf16;
  table.prepare[int(ActivationKind::kInt8)] = prepare_int8<put_bytes, 4>;
  table.prepare[int(ActivationKind::kInt8Words)] = prepare_int8<put_words, 8>;
  table.finish = finish;
  return table;
}

const KernelTable& table() {
  static constexpr KernelTable kTable = make_table();
  return kTable;
}
