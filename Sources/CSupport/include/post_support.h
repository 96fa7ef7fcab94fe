// libcurl's variadic functions with fixed arguments, for requests that are driven by their caller's multi handle.
#ifndef POST_SUPPORT_H
#define POST_SUPPORT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct curl_slist;
struct sockaddr;

/// One request and its callbacks; lives until the transfer is over.
struct post_options {
    /// Only a POST has a body.
    const char *method;
    const char *url;
    /// PEM file of certificates to trust instead of the system's; NULL: those.
    const char *trust_file;
    struct curl_slist *headers;
    const void *body;
    long body_bytes;
    long connect_milliseconds;
    long milliseconds;
    void *context;
    /// Asked for each address of the name before it is connected to; 0 refuses it. NULL: none is.
    int (*allows_address)(void *context, const struct sockaddr *address);
    /// Called with each piece of the answer's body; 0 ends the transfer, and 2 pauses it: the piece then comes again after
    /// `curl_easy_pause`.
    int (*received)(void *context, const void *bytes, size_t count);
    /// Called when the status and the headers of the answer are there. NULL: not called.
    void (*began)(void *context);
    /// Whether the request needs a connection of its own. On a kept one, libcurl sends a request again if the server closes
    /// the connection without an answer.
    int is_sent_once;
};

/// A handle that is ready to be added to a multi handle; NULL without memory. The body is not copied.
void *post_prepare(const struct post_options *options);

/// One mail for a relay; lives until the transfer is over.
struct mail_options {
    /// `smtp://HOST:PORT`, or `smtps` if TLS begins with the connection.
    const char *url;
    /// Whether STARTTLS must succeed before anything else is sent.
    int starts_tls;
    /// NULL: without.
    const char *user, *password;
    /// PEM file of certificates to trust instead of the system's; NULL: those.
    const char *trust_file;
    /// The address of the envelope that gets complaints.
    const char *sender;
    struct curl_slist *recipients;
    const void *content;
    size_t content_bytes;
    /// The number of bytes sent so far; 0 at the start.
    size_t sent_bytes;
    long connect_milliseconds;
    long milliseconds;
};

/// As `post_prepare`, for a mail.
void *mail_prepare(struct mail_options *options);

/// The status of the answer; 0 when none came.
long post_status(void *handle);

/// The answer's Retry-After in seconds; 0 if there is none.
long post_retry_after_seconds(void *handle);

/// The header of the last answer after `place`, which is NULL for the first; returns the next place, NULL at the end. The
/// texts are valid until the handle's next transfer.
void *post_next_header(void *handle, void *place, const char **name, const char **value);

/// The value of a header of the last answer, valid until the handle's next transfer; NULL if there is none.
const char *post_header(void *handle, const char *name);

#ifdef __cplusplus
}
#endif

#endif
