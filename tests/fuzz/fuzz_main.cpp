// Runs a fuzz target (LLVMFuzzerTestOneInput) on mutations of its seeds, without a fuzzing compiler: the same seed number gives the
// same inputs. Clang's libFuzzer runs the same targets when linked instead of this file.
//   NAME_fuzz SECONDS SEED FILE...      a folder stands for the files in it
// A crash leaves the input that caused it in NAME_fuzz.crash beside the working directory's files; run it with: NAME_fuzz 0 0 FILE
#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;
using Random = std::mt19937_64;

constexpr size_t kMostBytes = 256 * 1024;

struct Crash {  // what the signal handler writes
  const Bytes* input = nullptr;
  std::string path;
};
Crash& crash() {
  static Crash state;
  return state;
}

extern "C" void write_crash(int signal) {
  if (std::FILE* file = std::fopen(crash().path.c_str(), "wb")) {
    if (crash().input) std::fwrite(crash().input->data(), 1, crash().input->size(), file);
    std::fclose(file);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

Bytes read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

size_t below(Random& random, size_t limit) { return limit == 0 ? 0 : random() % limit; }

bool is_word(uint8_t c) { return std::isalnum(c) || c == '_' || c == '.' || c == '-' || c == '%'; }

// The word at or after `at`: a name, or a number.
std::pair<size_t, size_t> word_after(const Bytes& bytes, size_t at) {
  while (at > 0 && at <= bytes.size() && is_word(bytes[at - 1])) --at;
  while (at < bytes.size() && !is_word(bytes[at])) ++at;
  size_t end = at;
  while (end < bytes.size() && is_word(bytes[end])) ++end;
  return {at, end};
}

// One change: bytes, numbers, stretches, a piece or a word of another seed.
void mutate(Bytes& bytes, const std::vector<Bytes>& seeds, Random& random) {
  constexpr uint64_t kNumbers[] = {
      0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, ~uint64_t{0}};
  constexpr const char* kTexts[] = {"0",    "-1", "1e999", "4294967296", "null", "true", "[]",   "{}",
                                    "\"\"", "[",  "}",     ",",          "\\",   "\"",   "\xff", "\xe2\x96\x81"};
  constexpr const char* kWords[] = {
      "0",   "1",   "2",    "3",    "-1", "7", "1e-5", "2147483647", "2147483648", "-2147483648", "9223372036854775807",
      "nan", "inf", "true", "false"};
  const size_t at = below(random, bytes.size() + 1);
  const size_t length = std::min(bytes.size() - at, size_t{1} << below(random, 10));
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at), end = begin + static_cast<std::ptrdiff_t>(length);
  switch (below(random, 10)) {
    case 0:
      if (at < bytes.size()) bytes[at] ^= static_cast<uint8_t>(1u << below(random, 8));
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<uint8_t>(random());
      break;
    case 2: bytes.erase(begin, end); break;
    case 3: {
      const Bytes copy(begin, end);
      const size_t to = below(random, bytes.size() + 1);
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(to), copy.begin(), copy.end());
      break;
    }
    case 4: {
      const uint64_t number = kNumbers[below(random, std::size(kNumbers))];
      for (size_t i = 0; i < 8 && at + i < bytes.size(); ++i) bytes[at + i] = static_cast<uint8_t>(number >> (8 * i));
      break;
    }
    case 5: {
      const std::string text = kTexts[below(random, std::size(kTexts))];
      bytes.insert(begin, text.begin(), text.end());
      break;
    }
    case 6: {
      const Bytes& other = seeds[below(random, seeds.size())];
      const size_t from = below(random, other.size());
      const size_t count = std::min(other.size() - from, size_t{1} << below(random, 10));
      bytes.insert(begin, other.begin() + static_cast<std::ptrdiff_t>(from), other.begin() + static_cast<std::ptrdiff_t>(from + count));
      break;
    }
    case 7:
      if (below(random, 4) == 0) bytes.resize(at);
      break;
    default: {  // of text: a word becomes another one, or a number that is seldom right
      const Bytes& other = seeds[below(random, seeds.size())];
      const auto [from, from_end] = word_after(other, below(random, other.size() + 1));
      std::string word(other.begin() + static_cast<std::ptrdiff_t>(from), other.begin() + static_cast<std::ptrdiff_t>(from_end));
      if (below(random, 3) == 0) word = kWords[below(random, std::size(kWords))];
      const auto [to, to_end] = word_after(bytes, at);
      const auto place = bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(to), bytes.begin() + static_cast<std::ptrdiff_t>(to_end));
      bytes.insert(place, word.begin(), word.end());
      break;
    }
  }
  if (bytes.size() > kMostBytes) bytes.resize(kMostBytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s SECONDS SEED FILE|FOLDER...\n", argv[0]);
    return 2;
  }
  const double seconds = std::atof(argv[1]);
  Random random(std::strtoull(argv[2], nullptr, 10));
  std::vector<Bytes> seeds;
  for (int i = 3; i < argc; ++i) {
    std::vector<std::filesystem::path> files = {argv[i]};
    if (std::filesystem::is_directory(argv[i])) {
      files.clear();
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i]))
        if (entry.is_regular_file()) files.push_back(entry.path());
      std::sort(files.begin(), files.end());
    }
    for (const auto& file : files) seeds.push_back(read(file));
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: no seeds\n", argv[0]);
    return 2;
  }
  crash().path = std::filesystem::path(argv[0]).filename().string() + ".crash";
  for (const int signal : {SIGABRT, SIGILL, SIGSEGV, SIGFPE, SIGTRAP}) std::signal(signal, write_crash);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  uint64_t runs = 0;
  const auto run = [&](const Bytes& input) {
    crash().input = &input;
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++runs;
  };
  for (const Bytes& seed : seeds) run(seed);
  while (elapsed() < seconds) {
    Bytes input = seeds[below(random, seeds.size())];
    for (size_t n = below(random, 6) + 1; n > 0; --n) mutate(input, seeds, random);
    run(input);
  }
  std::printf("%s: %llu inputs in %.1f s\n", argv[0], static_cast<unsigned long long>(runs), elapsed());
  return 0;
}
