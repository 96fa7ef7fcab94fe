#include "http_support.h"

#include <microhttpd.h>

static void notify_connection(
    void *cls, struct MHD_Connection *connection, void **socket_context, enum MHD_ConnectionNotificationCode code) {
    const struct http_daemon_options *options = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = options->connection_opened(options->context, connection);
    } else {
        options->connection_closed(options->context, *socket_context);
        *socket_context = NULL;
    }
}

static void *log_target(void *cls, const char *target, struct MHD_Connection *connection) {
    const struct http_daemon_options *options = cls;
    return options->request_begun(options->context, target, connection);
}

static enum MHD_Result handle_access(
    void *cls, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
    const char *upload_data, size_t *upload_data_size, void **request_context) {
    const struct http_daemon_options *options = cls;
    (void)url;
    return options->request_continued(
               options->context, connection, method, version, (const uint8_t *)upload_data, upload_data_size,
               *request_context)
        ? MHD_YES
        : MHD_NO;
}

static void notify_completed(
    void *cls, struct MHD_Connection *connection, void **request_context, enum MHD_RequestTerminationCode code) {
    const struct http_daemon_options *options = cls;
    (void)code;
    if (*request_context == NULL) return;
    options->request_ended(options->context, connection, *request_context);
    *request_context = NULL;
}

/// The request's target is decoded by the caller, from the form as received: here nothing is decoded twice or too
/// early.
static size_t keep_escapes(void *cls, struct MHD_Connection *connection, char *text) {
    (void)cls;
    (void)connection;
    size_t length = 0;
    while (text[length] != 0) length += 1;
    return length;
}

struct MHD_Daemon *http_daemon_start(const struct http_daemon_options *options) {
    void *cls = (void *)options;
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle_access, cls,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)options->listening_descriptor,
        MHD_OPTION_CONNECTION_LIMIT, options->connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, options->inactivity_seconds_max,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory_bytes,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, log_target, cls,
        MHD_OPTION_NOTIFY_CONNECTION, notify_connection, cls,
        MHD_OPTION_NOTIFY_COMPLETED, notify_completed, cls,
        MHD_OPTION_END);
}

int http_daemon_epoll_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

int http_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

size_t http_connection_head_bytes(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

void *http_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}
