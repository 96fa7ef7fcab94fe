import Glibc

// Measures the log and checks it after a crash; scripts/bench and scripts/faults call this.

exit(Bench.run(Array(CommandLine.arguments.dropFirst())))
