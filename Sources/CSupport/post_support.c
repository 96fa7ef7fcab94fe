#define CURL_DISABLE_TYPECHECK
#include "post_support.h"

#include <curl/curl.h>
#include <string.h>
#include <sys/socket.h>

static curl_socket_t open_socket(void *cls, curlsocktype purpose, struct curl_sockaddr *address) {
    const struct post_options *options = cls;
    if (purpose != CURLSOCKTYPE_IPCXN) return CURL_SOCKET_BAD;
    if (options->allows_address != NULL && !options->allows_address(options->context, &address->addr)) {
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t write_body(char *bytes, size_t size, size_t count, void *cls) {
    const struct post_options *options = cls;
    int result = options->received(options->context, bytes, size * count);
    return result == 2 ? CURL_WRITEFUNC_PAUSE : result ? size * count : 0;
}

// The empty line ends the headers; those of an interim answer (1xx) do not count.
static size_t write_header(char *bytes, size_t size, size_t count, void *cls) {
    long status = 0;
    char *private = NULL;
    if (size * count == 2 && bytes[0] == '\r') {
        curl_easy_getinfo(cls, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(cls, CURLINFO_PRIVATE, &private);
        const struct post_options *options = (const struct post_options *)private;
        if (status >= 200 && options != NULL) options->began(options->context);
    }
    return size * count;
}

void *post_prepare(const struct post_options *options) {
    CURL *handle = curl_easy_init();
    if (handle == NULL) return NULL;
    void *cls = (void *)options;
    CURLcode code = CURLE_OK;
#define SET(option, value) if (code == CURLE_OK) code = curl_easy_setopt(handle, option, value)
    SET(CURLOPT_URL, options->url);
    int is_post = strcmp(options->method, "POST") == 0;
    if (is_post || options->body_bytes > 0) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDS, options->body);
        SET(CURLOPT_POSTFIELDSIZE, options->body_bytes);
    } else {
        SET(CURLOPT_HTTPGET, 1L);
    }
    if (!is_post) SET(CURLOPT_CUSTOMREQUEST, options->method);
    SET(CURLOPT_HTTPHEADER, options->headers);
    SET(CURLOPT_CONNECTTIMEOUT_MS, options->connect_milliseconds);
    SET(CURLOPT_TIMEOUT_MS, options->milliseconds);
    SET(CURLOPT_NOSIGNAL, 1L);
    // When the time limit is over, curl does not wait for a pending name lookup: the other transfers go on meanwhile.
    SET(CURLOPT_QUICK_EXIT, 1L);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    // Not even one that the environment names: the address that is checked must be the target's own.
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(CURLOPT_OPENSOCKETDATA, cls);
    SET(CURLOPT_WRITEFUNCTION, write_body);
    SET(CURLOPT_WRITEDATA, cls);
    if (options->trust_file != NULL) SET(CURLOPT_CAINFO, options->trust_file);
    if (options->began != NULL) {
        SET(CURLOPT_HEADERFUNCTION, write_header);
        SET(CURLOPT_HEADERDATA, handle);
        SET(CURLOPT_PRIVATE, cls);
    }
    if (options->is_sent_once) {
        SET(CURLOPT_FRESH_CONNECT, 1L);
        SET(CURLOPT_FORBID_REUSE, 1L);
    }
#undef SET
    if (code == CURLE_OK) return handle;
    curl_easy_cleanup(handle);
    return NULL;
}

static size_t read_mail(char *bytes, size_t size, size_t count, void *cls) {
    struct mail_options *options = cls;
    size_t rest = options->content_bytes - options->sent_bytes;
    size_t length = rest < size * count ? rest : size * count;
    memcpy(bytes, (const char *)options->content + options->sent_bytes, length);
    options->sent_bytes += length;
    return length;
}

static size_t drop_answer(char *bytes, size_t size, size_t count, void *cls) {
    (void)bytes, (void)cls;
    return size * count;
}

void *mail_prepare(struct mail_options *options) {
    CURL *handle = curl_easy_init();
    if (handle == NULL) return NULL;
    CURLcode code = CURLE_OK;
#define SET(option, value) if (code == CURLE_OK) code = curl_easy_setopt(handle, option, value)
    SET(CURLOPT_URL, options->url);
    SET(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    SET(CURLOPT_USE_SSL, options->starts_tls ? (long)CURLUSESSL_ALL : (long)CURLUSESSL_NONE);
    if (options->user != NULL) SET(CURLOPT_USERNAME, options->user);
    if (options->password != NULL) SET(CURLOPT_PASSWORD, options->password);
    if (options->trust_file != NULL) SET(CURLOPT_CAINFO, options->trust_file);
    SET(CURLOPT_MAIL_FROM, options->sender);
    SET(CURLOPT_MAIL_RCPT, options->recipients);
    SET(CURLOPT_UPLOAD, 1L);
    SET(CURLOPT_READFUNCTION, read_mail);
    SET(CURLOPT_READDATA, options);
    SET(CURLOPT_WRITEFUNCTION, drop_answer);
    SET(CURLOPT_CONNECTTIMEOUT_MS, options->connect_milliseconds);
    SET(CURLOPT_TIMEOUT_MS, options->milliseconds);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L);
    SET(CURLOPT_PROXY, "");
#undef SET
    if (code == CURLE_OK) return handle;
    curl_easy_cleanup(handle);
    return NULL;
}

long post_status(void *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

long post_retry_after_seconds(void *handle) {
    curl_off_t seconds = 0;
    curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds);
    return (long)seconds;
}

const char *post_header(void *handle, const char *name) {
    struct curl_header *header = NULL;
    return curl_easy_header(handle, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK ? header->value : NULL;
}

void *post_next_header(void *handle, void *place, const char **name, const char **value) {
    struct curl_header *header = curl_easy_nextheader(handle, CURLH_HEADER, -1, place);
    if (header == NULL) return NULL;
    *name = header->name;
    *value = header->value;
    return header;
}
