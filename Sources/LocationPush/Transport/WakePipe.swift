internal import Glibc
internal import Synchronization

/// Wakes a thread that sleeps in `poll(2)`: a pipe whose reading end is among the polled descriptors.
package final class WakePipe: Sendable {
    /// The descriptor to poll for reading.
    package let descriptor: Int32
    private let writingEnd: Int32
    /// Set while a wake-up is on its way, so that a busy sender costs one byte per turn of the loop and not one a push.
    private let rung = Atomic<Bool>(false)

    /// Makes the pipe.
    ///
    /// - Throws: ``TransportFault`` when the process has no descriptors left.
    package init() throws(TransportFault) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TransportFault(call: "pipe") }
        for end in ends {
            setNonBlocking(end)
        }
        self.descriptor = ends[0]
        self.writingEnd = ends[1]
    }

    deinit {
        close(descriptor)
        close(writingEnd)
    }

    /// Makes the sleeping thread return from `poll`; from any thread.
    package func wake() {
        guard !rung.exchange(true, ordering: .sequentiallyConsistent) else { return }
        var byte: UInt8 = 1
        // A full pipe (EAGAIN) wakes as well as a new byte does.
        _ = write(writingEnd, &byte, 1)
    }

    /// Clears the wake-up. Call it before reading the announced state, so that no change is missed.
    package func drain() {
        var bytes = [UInt8](repeating: 0, count: 16)
        while read(descriptor, &bytes, bytes.count) > 0 {}
        rung.store(false, ordering: .sequentiallyConsistent)
    }
}
