// empty_server: answers every request with 200 and [] as soon as its body is in, and does nothing else. What
// ingest_client measures against it is the limit of the client and of libmicrohttpd, not of the service.
//
//   empty_server [PORT]      on 127.0.0.1, by default port 8099, 0 for one that the system chooses; prints the port once it
//                            listens; ends on SIGTERM
//
// Driven from outside like the product's server: poll on the epoll descriptor of the library, then MHD_run, because
// the library's own epoll thread stalls at exactly 128 ready connections.
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t stopping;
static struct MHD_Response *answer;

static void stop(int signal) {
    (void)signal;
    stopping = 1;
}

static enum MHD_Result respond(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *bytes, size_t *length, void **request) {
    static int seen;
    (void)context, (void)url, (void)method, (void)version, (void)bytes;
    if (!*request) {
        *request = &seen;
        return MHD_YES;
    }
    if (*length) {
        *length = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, 200, answer);
}

int main(int count, char **arguments) {
    int port = count > 1 ? atoi(arguments[1]) : 8099;
    struct sigaction action = {.sa_handler = stop};  // without SA_RESTART: poll ends
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    answer = MHD_create_response_from_buffer(2, "[]", MHD_RESPMEM_PERSISTENT);
    if (!answer || MHD_add_response_header(answer, "Content-Type", "application/json") != MHD_YES) return 2;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG, (uint16_t)port, NULL, NULL, respond, NULL,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, 16384u, MHD_OPTION_END);
    const union MHD_DaemonInfo *info = daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info) {
        fprintf(stderr, "empty_server: cannot listen on port %d\n", port);
        return 2;
    }
    const union MHD_DaemonInfo *bound = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    printf("%d\n", bound ? bound->port : port);
    fflush(stdout);
    struct pollfd ready = {info->epoll_fd, POLLIN, 0};
    while (!stopping) {
        MHD_UNSIGNED_LONG_LONG wait = 1000;
        if (MHD_get_timeout(daemon, &wait) != MHD_YES || wait > 1000) wait = 1000;
        poll(&ready, 1, (int)wait);
        MHD_run(daemon);
    }
    MHD_stop_daemon(daemon);
    MHD_destroy_response(answer);
    return 0;
}
