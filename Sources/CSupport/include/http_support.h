// libmicrohttpd's variadic functions with fixed arguments, for one daemon driven by its caller's poll loop.
#ifndef HTTP_SUPPORT_H
#define HTTP_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct MHD_Connection;
struct MHD_Daemon;

/// The daemon's options and callbacks; `context` is handed to each of them. What each means is in the manual of
/// `MHD_start_daemon`.
struct http_daemon_options {
    int listening_descriptor;
    unsigned connection_limit;
    unsigned inactivity_seconds_max;
    size_t connection_memory_bytes;
    void *context;
    /// `MHD_OPTION_NOTIFY_CONNECTION`, told apart by `opened`. Its answer to an opening is the connection's own
    /// context, given to the closing and to `http_connection_context`.
    void *(*connection_opened)(void *context, struct MHD_Connection *connection);
    void (*connection_closed)(void *context, void *connection_context);
    /// `MHD_OPTION_URI_LOG_CALLBACK`: the request's target as received, before any decoding. Its answer is the
    /// request's own context.
    void *(*request_begun)(void *context, const char *target, struct MHD_Connection *connection);
    /// `MHD_AccessHandlerCallback`: once after the headers, for every piece of the body, and once after it (`*length`
    /// 0 from the second call on). An answer of 0 closes the connection.
    int (*request_continued)(
        void *context, struct MHD_Connection *connection, const char *method, const char *version,
        const uint8_t *bytes, size_t *length, void *request_context);
    /// `MHD_OPTION_NOTIFY_COMPLETED`: the request is over, answered or not.
    void (*request_ended)(void *context, struct MHD_Connection *connection, void *request_context);
};

/// Starts a daemon that uses epoll and does nothing by itself. Its strict mode is off, because libmicrohttpd 0.9.75 sends the
/// head of a refusal twice in that mode; the caller refuses what RFC 9112 forbids.
/// `options` must outlive the daemon.
/// - Returns: null if libmicrohttpd could not start.
struct MHD_Daemon *http_daemon_start(const struct http_daemon_options *options);

/// The descriptor that becomes readable when `MHD_run` has something to do.
int http_daemon_epoll_descriptor(struct MHD_Daemon *daemon);

int http_connection_descriptor(struct MHD_Connection *connection);
/// The bytes of the request line and header fields of the current request, line ends included; 0 before they are complete.
size_t http_connection_head_bytes(struct MHD_Connection *connection);
void *http_connection_context(struct MHD_Connection *connection);

#ifdef __cplusplus
}
#endif

#endif
