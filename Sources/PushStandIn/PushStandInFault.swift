/// Something the stand-in does to the next push that arrives, instead of or besides answering it truly.
package enum PushStandInFault: Sendable, Equatable {
    /// Nothing: the push is treated as usual.
    case none
    /// This answer, without a look at the push.
    case answer(status: Int, reason: String, timestampMs: Int64? = nil, retryAfterSeconds: Int? = nil)
    /// The true answer, later.
    case delay(ms: Int64)
    /// A reset of the stream with this HTTP/2 error code; the push is not processed.
    case reset(errorCode: UInt32)
    /// The push is accepted and handed to the phone, then the stream is reset without an answer.
    case resetAfterAcceptance(errorCode: UInt32)
    /// GOAWAY with a last stream below this push's, which is not processed.
    case goAwayBefore(reason: String)
    /// The push is answered truly, with a GOAWAY that includes its stream.
    case goAwayAfter(reason: String)
    /// The connection is cut; the push is not processed.
    case close
    /// The push is accepted and handed to the phone, then the connection is cut.
    case closeAfterAcceptance
    /// From now on the connection is open and silent.
    case blackHole
    /// The push is answered truly, and the connection allows this many streams from now on.
    case maxConcurrentStreams(Int)
}
