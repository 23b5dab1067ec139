# shellcheck shell=bash
# What quickstart.sh and test.sh share: messages, Debian packages, the compiler. Sourced by bash, with `set -euo pipefail` on.

# Progress goes to standard error, so that standard output carries the model's answer alone.
say() {
  if [ -t 2 ]; then printf '\033[1m==> %s\033[0m\n' "$*" >&2; else printf '==> %s\n' "$*" >&2; fi
}
fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '       %s\n' "$line" >&2; done
  exit 1
}

has_package() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Is there what the Debian package $1 is wanted for? A program may come from elsewhere; a library is looked for as a package.
is_present() {
  case $1 in
    g++) command -v "${CXX:-g++}" ;;
    cmake | ccache | python3 | pkg-config) command -v "$1" ;;
    ninja-build) command -v ninja ;;
    python3-pip) python3 -m pip --version ;;
    *) has_package "$1" ;;
  esac >/dev/null 2>&1
}

# need_packages PACKAGE...: installs those that are missing, in one line; does nothing, and needs no rights, when none is.
need_packages() {
  local missing=() package
  for package in "$@"; do is_present "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "this system has no apt-get; Headrace is built on Debian 12 and Ubuntu 24.04." \
    "Elsewhere, install the equivalents of: ${missing[*]}" "and then: cmake --preset release && cmake --build --preset release"
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "packages are missing, and there is neither root nor sudo to install them." \
      "Ask somebody who may to run: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  say "Installing ${missing[*]}"
  local log
  log=$(mktemp)
  # One shell for both, so that sudo asks once; the log is shown only when something goes wrong. An update that fails may be somebody
  # else's broken source; whether it matters, install will say. A fresh machine may be busy updating itself: wait for the lock.
  if ! "${root[@]}" sh -c 'export DEBIAN_FRONTEND=noninteractive
      apt-get update; apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"' apt "${missing[@]}" >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "apt-get could not install: ${missing[*]}" "No network, a stale mirror, or a release older than Debian 12 or Ubuntu 24.04?"
  fi
  rm -f "$log"
}

# C++20 as gcc 12 and CMake 3.25 know it.
check_tools() {
  local cxx=${CXX:-g++} version
  version=$("$cxx" -dumpversion 2>/dev/null) || fail "there is no C++ compiler named $cxx; unset CXX, or install g++."
  if "$cxx" --version 2>/dev/null | grep -q 'Free Software Foundation' && [ "${version%%.*}" -lt 12 ]; then
    fail "$cxx is version $version; Headrace needs g++ 12 or newer." "If a newer one is installed beside it: CXX=g++-12 $0"
  fi
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  [ "$(printf '%s\n' 3.25 "$version" | sort -V | head -n 1)" = 3.25 ] || fail "cmake is version $version; Headrace needs 3.25 or newer."
}

# configure PRESET: once; afterwards ninja itself sees changed CMake files. Anew when the source folder has moved.
configure() {
  local cache=build/$1/CMakeCache.txt log
  if [ -f "build/$1/build.ninja" ] && grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then return 0; fi
  say "Configuring build/$1"
  log=$(mktemp)
  if ! cmake --preset "$1" --fresh >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail "cmake could not configure build/$1: see above."
  fi
  rm -f "$log"
}

# How many compilers at once: one per core, and at least 1.5 GB of memory for each.
num_jobs() {
  local cores memory_gb
  cores=$(nproc)
  memory_gb=$(awk '/^MemAvailable/ { print int($2 / 1048576 / 1.5) }' /proc/meminfo)
  [ "$memory_gb" -ge 1 ] || memory_gb=1
  echo $((cores < memory_gb ? cores : memory_gb))
}
