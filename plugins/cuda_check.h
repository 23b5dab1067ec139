// What the programs that try kernels on a GPU share. They need no test library, so that they can be carried to a machine that has nothing
// but a driver: a line for each case, exit code 0 when all passed, 1 when one failed, 77 when there is no GPU.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

inline void need_gpu() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::printf("no GPU: nothing was checked\n");
    std::exit(77);
  }
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) { must(cudaMalloc(&data_, std::max<size_t>(count, 1) * sizeof(T))); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    must(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    must(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

// Seconds of one call, the median of 20, after warming up. `body` enqueues on the stream that it is given.
template <typename Body>
double seconds_of(Body&& body) {
  cudaStream_t stream;
  cudaEvent_t start, stop;
  must(cudaStreamCreate(&stream)), must(cudaEventCreate(&start)), must(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int i = 0; i < 25; ++i) {
    must(cudaEventRecord(start, stream));
    body(stream);
    must(cudaEventRecord(stop, stream));
    must(cudaEventSynchronize(stop));
    float ms = 0;
    must(cudaEventElapsedTime(&ms, start, stop));
    if (i >= 5) times.push_back(ms);
  }
  cudaEventDestroy(start), cudaEventDestroy(stop), cudaStreamDestroy(stream);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] * 1e-3;
}

class Random {
 public:
  uint32_t next() { return state_ = state_ * 1664525 + 1013904223; }
  float uniform() { return float(next() >> 8) / float(1 << 24) * 2 - 1; }

 private:
  uint32_t state_ = 1;
};
