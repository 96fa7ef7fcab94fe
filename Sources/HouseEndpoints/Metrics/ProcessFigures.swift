import Glibc
import Log

/// The kernel's figures about this process.
struct ProcessFigures {
    /// Resident memory, from `/proc/self/statm`; 0 if it cannot be read.
    let residentBytes: Double
    /// User and system time since the start of the process.
    let cpuSeconds: Double
    /// The open descriptors; 0 if `/proc` is not mounted.
    let openFileDescriptors: Double

    /// Reads `/proc` and the process's clock now.
    init() {
        let statm = Self.words(of: "/proc/self/statm")
        residentBytes = (statm.count > 1 ? Double(statm[1]) ?? 0 : 0) * Double(sysconf(Int32(_SC_PAGESIZE)))
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        cpuSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        openFileDescriptors = Self.entries(of: "/proc/self/fd")
    }

    /// The words of a file's first 4 KiB; none if it cannot be read.
    private static func words(of file: String) -> [Substring] {
        let bytes = DataDirectory.read(file, atMost: 4096) ?? []
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    }

    /// The number of entries without `.`, `..` and the descriptor of this read.
    private static func entries(of folder: String) -> Double {
        guard let directory = opendir(folder) else { return 0 }
        defer { closedir(directory) }
        var count = -3.0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
