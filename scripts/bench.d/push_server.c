// An HTTP/2 server over TLS that answers every request with an empty 200 and its apns-id: push_server CERT KEY
//
// Prints its port, serves one connection after the other, and ends when its input ends. It looks at nothing, so that what
// is measured is the sender. One thread, blocking reads: it answers a batch of requests for each read.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *what) {
    fprintf(stderr, "push_server: %s\n", what);
    exit(3);
}

struct stream {
    char id[37];
};

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                     const uint8_t *value, size_t length, uint8_t flags, void *user) {
    (void)flags, (void)user;
    if (name_length != 7 || memcmp(name, "apns-id", 7) != 0 || length != 36) return 0;
    struct stream *stream = malloc(sizeof *stream);
    memcpy(stream->id, value, 36);
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    (void)user;
    if ((frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) ||
        !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    struct stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    nghttp2_nv fields[] = {
        {(uint8_t *)":status", (uint8_t *)"200", 7, 3, 0},
        {(uint8_t *)"apns-id", (uint8_t *)(stream ? stream->id : ""), 7, stream ? 36 : 0, NGHTTP2_NV_FLAG_NO_INDEX},
    };
    return nghttp2_submit_response(session, frame->hd.stream_id, fields, 2, NULL);
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *user) {
    (void)code, (void)user;
    free(nghttp2_session_get_stream_user_data(session, id));
    return 0;
}

static int select_h2(SSL *tls, const unsigned char **out, unsigned char *out_length, const unsigned char *in,
                     unsigned in_length, void *user) {
    (void)tls, (void)user;
    static const unsigned char h2[] = {2, 'h', '2'};
    return SSL_select_next_proto((unsigned char **)out, out_length, h2, 3, in, in_length) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void serve(SSL *tls, nghttp2_session_callbacks *callbacks) {
    nghttp2_session *session;
    nghttp2_option *option;
    nghttp2_option_new(&option);
    // libcurl resets streams whose answer is empty; a server on guard against floods of resets would leave it.
    nghttp2_option_set_stream_reset_rate_limit(option, UINT64_MAX, UINT64_MAX);
    nghttp2_session_server_new2(&session, callbacks, NULL, option);
    nghttp2_option_del(option);
    nghttp2_settings_entry limit = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1000};
    nghttp2_submit_settings(session, 0, &limit, 1);
    static unsigned char in[64 << 10], out[256 << 10];
    for (;;) {
        size_t waiting = 0;
        const uint8_t *piece;
        for (ssize_t length; (length = nghttp2_session_mem_send(session, &piece)) > 0;) {
            if (waiting + (size_t)length > sizeof out) {
                if (SSL_write(tls, out, (int)waiting) <= 0) goto end;
                waiting = 0;
            }
            memcpy(out + waiting, piece, (size_t)length);
            waiting += (size_t)length;
        }
        if (waiting > 0 && SSL_write(tls, out, (int)waiting) <= 0) break;
        int count = SSL_read(tls, in, sizeof in);
        if (count <= 0 || nghttp2_session_mem_recv(session, in, (size_t)count) != count) break;
    }
end:
    nghttp2_session_del(session);
}

static void *end_with_input(void *user) {
    char byte;
    while (read(0, &byte, 1) > 0) {}
    (void)user;
    _exit(0);
}

int main(int count, char **arguments) {
    if (count != 3) die("usage: push_server CERT KEY");
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context, arguments[1]) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, arguments[2], SSL_FILETYPE_PEM) != 1)
        die("the certificate cannot be read");
    SSL_CTX_set_alpn_select_cb(context, select_h2, NULL);
    nghttp2_session_callbacks *callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);

    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0) die("listen");
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    pthread_t watcher;
    pthread_create(&watcher, NULL, end_with_input, NULL);
    for (;;) {
        int line = accept(listener, NULL, NULL);
        int on = 1;
        setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        SSL *tls = SSL_new(context);
        SSL_set_fd(tls, line);
        if (SSL_accept(tls) == 1) serve(tls, callbacks);
        SSL_free(tls);
        close(line);
    }
}
