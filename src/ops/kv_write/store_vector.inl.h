// to (n of type T) = x (n), rounded to nearest. Included by ops/each_isa.inl.h.
template <typename T>
void store_vector(const float* x, void* to, int64_t n) {
  T* y = static_cast<T*>(to);
  for (int64_t i = 0; i < n; i += F32::kLanes) {
    if (const int m = lanes_of(n - i); m == F32::kLanes) store(y + i, load(x + i));
    else store(y + i, load(x + i, m), m);
  }
}
