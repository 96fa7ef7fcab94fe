import CPROJ

/// One PROJ operation with its own context, so that the thread that owns it shares nothing with other threads.
///
/// The context never opens a network connection, whatever `PROJ_NETWORK` or `proj.ini` say, and never writes to
/// standard error: PROJ's own messages may contain coordinates.
struct ProjOperation: ~Copyable {
    let context: OpaquePointer
    let operation: OpaquePointer

    /// `make` creates the operation in the new context, or returns nil with PROJ's error number set.
    init(
        doing: String, make: (OpaquePointer) throws(GeodesyError) -> OpaquePointer?
    ) throws(GeodesyError) {
        guard let context = proj_context_create() else {
            throw .proj(doing: doing, number: PROJ_ERR_OTHER, message: "out of memory")
        }
        proj_log_level(context, PJ_LOG_NONE)
        // Some messages ignore the log level.
        proj_log_func(context, nil) { _, _, _ in }
        guard proj_context_set_enable_network(context, 0) == 0 else {
            proj_context_destroy(context)
            throw .proj(doing: doing, number: PROJ_ERR_OTHER, message: "the network cannot be switched off")
        }
        let operation: OpaquePointer?
        do throws(GeodesyError) {
            operation = try make(context)
        } catch {
            proj_context_destroy(context)
            throw error
        }
        guard let operation else {
            let error = GeodesyError.last(of: context, doing: doing)
            proj_context_destroy(context)
            throw error
        }
        self.context = context
        self.operation = operation
    }

    deinit {
        proj_destroy(operation)
        proj_context_destroy(context)
    }
}

extension GeodesyError {
    /// A context's last error, with PROJ's text.
    static func last(of context: OpaquePointer, doing: String) -> GeodesyError {
        let number = proj_context_errno(context)
        let text = proj_context_errno_string(context, number).map { String(cString: $0) }
        return .proj(doing: doing, number: number, message: text ?? "no reason given")
    }
}
