import Glibc

// Measures the log and judges what a crash left of it; scripts/bench and scripts/faults call this.

exit(Bench.run(Array(CommandLine.arguments.dropFirst())))
