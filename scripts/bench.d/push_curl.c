// Sends pushes with libcurl's multi interface: push_curl PORT CA PUSHES IN-FLIGHT
//
// One connection, as many transfers at a time as are to be in flight; handles are used again.
#include "push_client.h"

#include <curl/curl.h>

static void die(const char *what) {
    fprintf(stderr, "push_curl: %s\n", what);
    exit(3);
}

struct push {
    char id[37];
    struct curl_slist *fields;
    int is_echoed;
};

static size_t take_header(char *line, size_t size, size_t count, void *user) {
    struct push *push = user;
    if (size * count > 45 && strncmp(line, "apns-id: ", 9) == 0) push->is_echoed = memcmp(line + 9, push->id, 36) == 0;
    return size * count;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *user) {
    (void)bytes, (void)user;
    return size * count;
}

static uint64_t sent;

static void begin(CURLM *multi, CURL *handle, struct push *push) {
    char line[700];
    name_push(push->id, sent++);
    push->is_echoed = 0;
    curl_slist_free_all(push->fields);
    push->fields = NULL;
    snprintf(line, sizeof line, "authorization: %s", bearer());
    push->fields = curl_slist_append(push->fields, line);
    push->fields = curl_slist_append(push->fields, "apns-push-type: location");
    snprintf(line, sizeof line, "apns-topic: %s", topic);
    push->fields = curl_slist_append(push->fields, line);
    push->fields = curl_slist_append(push->fields, "apns-priority: 10");
    snprintf(line, sizeof line, "apns-expiration: %ld", (long)time(NULL) + 60);
    push->fields = curl_slist_append(push->fields, line);
    snprintf(line, sizeof line, "apns-id: %s", push->id);
    push->fields = curl_slist_append(push->fields, line);
    snprintf(line, sizeof line, "apns-collapse-id: %s", collapse_id);
    push->fields = curl_slist_append(push->fields, line);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, push->fields);
    if (curl_multi_add_handle(multi, handle) != CURLM_OK) die("add");
}

int main(int count, char **arguments) {
    if (count != 5) die("usage: push_curl PORT CA PUSHES IN-FLIGHT");
    uint64_t wanted = strtoull(arguments[3], NULL, 10), in_flight_max = strtoull(arguments[4], NULL, 10);
    char url[200];
    snprintf(url, sizeof url, "https://localhost:%s/3/device/%s", arguments[1], token);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000L);
    double begun = now(), cpu = used();
    for (uint64_t index = 0; index < in_flight_max && sent < wanted; index++) {
        CURL *handle = curl_easy_init();
        struct push *push = calloc(1, sizeof *push);
        curl_easy_setopt(handle, CURLOPT_URL, url);
        curl_easy_setopt(handle, CURLOPT_CAINFO, arguments[2]);
        curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
        curl_easy_setopt(handle, CURLOPT_PIPEWAIT, 1L);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, (long)(sizeof body - 1));
        curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
        curl_easy_setopt(handle, CURLOPT_HEADERDATA, push);
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
        curl_easy_setopt(handle, CURLOPT_PRIVATE, push);
        begin(multi, handle, push);
    }
    uint64_t accepted = 0;
    for (int running = 1; running || accepted < wanted;) {
        if (curl_multi_perform(multi, &running) != CURLM_OK) die("perform");
        int left;
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            CURL *handle = message->easy_handle;
            struct push *push;
            long status = 0;
            curl_easy_getinfo(handle, CURLINFO_PRIVATE, &push);
            curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
            if (message->data.result != CURLE_OK) die(curl_easy_strerror(message->data.result));
            if (status != 200 || !push->is_echoed) die("a push was not accepted");
            accepted++;
            curl_multi_remove_handle(multi, handle);
            if (sent < wanted) {
                begin(multi, handle, push);
                running = 1;
            }
        }
        if (running && curl_multi_poll(multi, NULL, 0, 1000, NULL) != CURLM_OK) die("poll");
    }
    report(wanted, now() - begun, used() - cpu);
}
