// Sends pushes with libnghttp2 and OpenSSL, as little around them as will do: push_nghttp2 PORT CA PUSHES IN-FLIGHT
//
// One connection, blocking reads and writes, every field as the service sends it; each answer's status and id are read.
#include "push_client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <unistd.h>

static uint64_t wanted, sent, accepted, in_flight, in_flight_max;

struct push {
    char id[37];
    size_t body_sent;
    int is_good, is_echoed;
};

static void die(const char *what) {
    fprintf(stderr, "push_nghttp2: %s\n", what);
    exit(3);
}

static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *buffer, size_t length, uint32_t *flags,
                         nghttp2_data_source *source, void *user) {
    (void)session, (void)stream, (void)source, (void)user;
    size_t count = sizeof body - 1 < length ? sizeof body - 1 : length;
    memcpy(buffer, body, count);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

#define FIELD(name, value, length, flags) {(uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, (length), (flags)}

static void send_one(nghttp2_session *session) {
    static char path[100], expiration[24];
    if (!path[0]) {
        snprintf(path, sizeof path, "/3/device/%s", token);
        snprintf(expiration, sizeof expiration, "%ld", (long)time(NULL) + 60);
    }
    struct push *push = calloc(1, sizeof *push);
    name_push(push->id, sent);
    const char *authorization = bearer();
    uint8_t once = sent == 0 ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX;
    nghttp2_nv fields[] = {
        FIELD(":method", "POST", 4, 0),
        FIELD(":scheme", "https", 5, 0),
        FIELD(":authority", "localhost", 9, 0),
        FIELD(":path", path, strlen(path), NGHTTP2_NV_FLAG_NO_INDEX),
        FIELD("authorization", authorization, strlen(authorization), NGHTTP2_NV_FLAG_NO_INDEX),
        FIELD("apns-push-type", "location", 8, 0),
        FIELD("apns-topic", topic, strlen(topic), 0),
        FIELD("apns-priority", "10", 2, 0),
        FIELD("apns-expiration", expiration, strlen(expiration), once),
        FIELD("apns-id", push->id, 36, once),
        FIELD("apns-collapse-id", collapse_id, strlen(collapse_id), once),
    };
    nghttp2_data_provider source = {.read_callback = read_body};
    if (nghttp2_submit_request(session, NULL, fields, sizeof fields / sizeof *fields, &source, push) < 0) die("submit");
    sent++;
    in_flight++;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                     const uint8_t *value, size_t length, uint8_t flags, void *user) {
    (void)flags, (void)user;
    struct push *push = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (name_length == 7 && memcmp(name, ":status", 7) == 0) push->is_good = length == 3 && memcmp(value, "200", 3) == 0;
    if (name_length == 7 && memcmp(name, "apns-id", 7) == 0)
        push->is_echoed = length == 36 && memcmp(value, push->id, 36) == 0;
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *user) {
    (void)user;
    struct push *push = nghttp2_session_get_stream_user_data(session, stream);
    if (code == 0 && push->is_good && push->is_echoed) accepted++;
    free(push);
    in_flight--;
    if (sent < wanted) send_one(session);
    return 0;
}

int main(int count, char **arguments) {
    if (count != 5) die("usage: push_nghttp2 PORT CA PUSHES IN-FLIGHT");
    wanted = strtoull(arguments[3], NULL, 10);
    in_flight_max = strtoull(arguments[4], NULL, 10);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (SSL_CTX_load_verify_file(context, arguments[2]) != 1) die("the CA cannot be read");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_alpn_protos(context, (const unsigned char *)"\2h2", 3);
    int line = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)atoi(arguments[1])),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    if (connect(line, (struct sockaddr *)&address, sizeof address) != 0) die("connect");
    setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    SSL *tls = SSL_new(context);
    SSL_set_fd(tls, line);
    SSL_set_tlsext_host_name(tls, "localhost");
    SSL_set1_host(tls, "localhost");
    if (SSL_connect(tls) != 1) die("TLS");

    nghttp2_session_callbacks *callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session *session;
    nghttp2_session_client_new(&session, callbacks, NULL);
    nghttp2_settings_entry no_push = {NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
    nghttp2_submit_settings(session, 0, &no_push, 1);

    double begun = now(), cpu = used();
    while (in_flight < in_flight_max && sent < wanted) send_one(session);
    static unsigned char in[64 << 10], out[256 << 10];
    while (in_flight > 0) {
        size_t waiting = 0;
        const uint8_t *piece;
        for (ssize_t length; (length = nghttp2_session_mem_send(session, &piece)) > 0;) {
            if (waiting + (size_t)length > sizeof out) {
                if (SSL_write(tls, out, (int)waiting) <= 0) die("write");
                waiting = 0;
            }
            memcpy(out + waiting, piece, (size_t)length);
            waiting += (size_t)length;
        }
        if (waiting > 0 && SSL_write(tls, out, (int)waiting) <= 0) die("write");
        int got = SSL_read(tls, in, sizeof in);
        if (got <= 0 || nghttp2_session_mem_recv(session, in, (size_t)got) != got) die("read");
    }
    if (accepted != wanted) die("not every push was accepted");
    report(wanted, now() - begun, used() - cpu);
}
