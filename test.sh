#!/usr/bin/env bash
# Builds everything and runs every test: what CI runs. Debian 12 or Ubuntu 24.04, as root or as a user with sudo.
#   ./test.sh [CTEST_OPTION...]        ./test.sh -R Attention runs the tests whose name matches
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. tools/setup.sh

need_packages g++ cmake ninja-build pkg-config ccache python3 \
  libfmt-dev nlohmann-json3-dev libcli11-dev libpcre2-dev libutf8proc-dev libgtest-dev libgmock-dev
check_tools
say "Checking that includes follow the rooms"
tools/check_layers
configure release
say "Building everything"
cmake --build build/release --parallel "$(num_jobs)"
# What reads strangers' files is fuzzed under sanitizers first, so that the tests' own summary is what stands last.
say "Fuzzing under sanitizers"
configure asan
cmake --build build/asan --parallel "$(num_jobs)" --target headrace_fuzzers
ctest --test-dir build/asan --output-on-failure --parallel 2 --tests-regex '^Fuzz[.]'
say "Running the tests"
exec ctest --test-dir build/release --output-on-failure --parallel 2 "$@"
