# What the benchmarks share; sourced by them, from the top of the tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

say() { printf '%s\n' "$*" >&2; }

# The built whereabouts-bench: WHEREABOUTS_BENCH, or made now.
bench=${WHEREABOUTS_BENCH:-}
if [[ -z $bench ]]; then
    swift build -c release --product whereabouts-bench >&2
    bench=$PWD/.build/release/whereabouts-bench
fi
# build_tool: sets `tool` to the built whereabouts: WHEREABOUTS_TOOL, or made now.
build_tool() {
    tool=${WHEREABOUTS_TOOL:-}
    if [[ -z $tool ]]; then
        swift build -c release --product whereabouts >&2
        tool=$PWD/.build/release/whereabouts
    fi
}
# eventsourcing_python: sets `python` to one with PyPI eventsourcing; empty if that cannot be installed.
eventsourcing_python() {
    python=$PWD/.build/bench-python
    if [[ ! -x $python/bin/python ]] || ! "$python/bin/python" -c 'import eventsourcing' 2> /dev/null; then
        python3 -m venv "$python" && "$python/bin/pip" -q install eventsourcing==9.5.6 || python=
    fi
    python=${python:+$python/bin/python}
}
tools=$PWD/.build/faults
scripts/faults/build "$tools"
# On the disk that is to be judged: WHEREABOUTS_BENCH_DIR, or below .build.
work=${WHEREABOUTS_BENCH_DIR:-$PWD/.build}/bench.$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# field NAME JSON: the number of a field of a flat JSON object.
field() { sed -nE "s/.*\"$1\":(-?[0-9.]+).*/\1/p" <<< "$2"; }

# median of the numbers given
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# ratio A B with two decimals
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }'; }
