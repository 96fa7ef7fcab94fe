// libcurl's variadic functions with fixed arguments, for POSTs that are driven by their caller's multi handle.
#ifndef POST_SUPPORT_H
#define POST_SUPPORT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct curl_slist;
struct sockaddr;

/// One POST and its callbacks; lives until the transfer is over.
struct post_options {
    const char *url;
    /// PEM file of certificates to trust instead of the system's; NULL: those.
    const char *trust_file;
    struct curl_slist *headers;
    const void *body;
    long body_bytes;
    long connect_milliseconds;
    long milliseconds;
    void *context;
    /// Asked for each address of the name before it is connected to; 0 refuses it.
    int (*allows_address)(void *context, const struct sockaddr *address);
    /// Told the length of each piece of the answer's body, which is dropped; 0 ends the transfer.
    int (*received)(void *context, size_t bytes);
};

/// A handle that is ready to be added to a multi handle; NULL without memory. The body is not copied.
void *post_prepare(const struct post_options *options);

/// The status of the answer; 0 when none came.
long post_status(void *handle);

/// What the answer's Retry-After says, in seconds; 0 when it says nothing.
long post_retry_after_seconds(void *handle);

#ifdef __cplusplus
}
#endif

#endif
