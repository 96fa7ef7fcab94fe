import Glibc

/// Whether tests run in their long form: `WHEREABOUTS_LONG=1`, as `scripts/test --all` sets it. Any other value is the
/// short form, and so is none.
package let isLongForm = getenv("WHEREABOUTS_LONG").map { String(cString: $0) } == "1"
