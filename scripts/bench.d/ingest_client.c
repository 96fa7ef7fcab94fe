// ingest_client: many phones reporting at once. Posts fixes over keep-alive connections, each connection sending its next
// request when it has the answer to the last, and prints what it saw as one JSON object.
//
//   ingest_client --port P [--host 127.0.0.1] [--connections 64] [--users 100] [--seconds 10] [--start UNIX]
//                 (--credentials FILE | --empty) [--batch N]
//
// - A request is a fix as OwnTracks posts it; with --batch, N fixes as Overland does.
// - FILE has a line `user:password` for each device, at least --users of them. --empty needs none: it is for
//   empty_server, and expects the body [] of every answer.
// - Every fix is a new one: the user's `tst` goes up by one second from --start (default: 30 days ago, so that a
//   run of millions stays out of the future), and the place moves by some 3 m, so that nothing is a repetition.
//   A second run on the same server needs a later --start.
// - One thread, epoll. Latency is from the request's first byte sent to the answer's last byte read. After --seconds no
//   request is sent; answers still due are waited for, at most 5 s. A connection closed by the server is opened again.
// - Exit 0 if every answer was a 200, 1 if not, 2 if nothing could be measured.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    answer_limit = 64 * 1024, body_limit = 128 * 1024, request_limit = body_limit + 2048, longest_us = 10 * 1000 * 1000, drain_seconds = 5,
    reconnect_limit = 1000
};

struct user {
    char authorization[400];
    int64_t fixes;
};

struct connection {
    int socket;
    int waits;  // an answer is due
    int64_t began_ns;
    size_t sent, request_length, got;
    long next_user;
    char request[request_limit], answer[answer_limit];
};

static const char *host = "127.0.0.1", *port, *credentials_path;
static long connection_count = 64, user_count = 100, seconds = 10, start_second, batch;
static int is_empty, poller;
static struct addrinfo *address;
static struct user *users;
static struct connection *connections;
static uint32_t *latencies;  // how many answers took so many microseconds; the last entry: as long or longer
static uint64_t answers, sent_requests, statuses[600], wrong_bodies, lost_connections, reconnects;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "ingest_client: %s: %s\n", what, why);
    exit(2);
}

static int64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void encode_base64(const char *text, char *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i += 3) {
        uint32_t bits = (uint32_t)(uint8_t)text[i] << 16;
        if (i + 1 < length) bits |= (uint32_t)(uint8_t)text[i + 1] << 8;
        if (i + 2 < length) bits |= (uint8_t)text[i + 2];
        *out++ = digits[bits >> 18];
        *out++ = digits[bits >> 12 & 63];
        *out++ = i + 1 < length ? digits[bits >> 6 & 63] : '=';
        *out++ = i + 2 < length ? digits[bits & 63] : '=';
    }
    *out = 0;
}

static void read_credentials(void) {
    FILE *file = is_empty ? NULL : fopen(credentials_path, "r");
    if (!is_empty && !file) stop(credentials_path, strerror(errno));
    for (long i = 0; i < user_count; i++) {
        char line[256] = "phone:reporting-key";
        if (file && !fgets(line, sizeof line, file)) stop(credentials_path, "has fewer lines than --users");
        line[strcspn(line, "\r\n")] = 0;
        if (!strchr(line, ':')) stop(credentials_path, "a line is not user:password");
        if (batch) {
            snprintf(users[i].authorization, sizeof users[i].authorization, "Bearer %s", strchr(line, ':') + 1);
        } else {
            memcpy(users[i].authorization, "Basic ", 6);
            encode_base64(line, users[i].authorization + 6);
        }
    }
    if (file) fclose(file);
}

// Appends the user's next fix to a body of this length, and returns the new length.
static int write_fix(struct user *user, long number, char *body, int length) {
    long step = user->fixes++;
    // A slow walk to and fro: some 3 m north with each fix, from a place of the user's own.
    double latitude = -50 + (double)(number % 100) + (double)(step % 20000) * 0.00003;
    double longitude = -170 + (double)(number / 100 % 340) + (double)(step / 20000) * 0.001;
    time_t moment = start_second + step;
    char *end = body + length;
    size_t room = (size_t)(body_limit - length);
    if (!batch)
        return length + snprintf(end, room,
            "{\"_type\":\"location\",\"lat\":%.6f,\"lon\":%.6f,\"tst\":%ld,\"acc\":5,\"batt\":87,\"tid\":\"u1\",\"vel\":3}",
            latitude, longitude, (long)moment);
    struct tm parts;
    char time[32];
    strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&moment, &parts));
    return length + snprintf(end, room,
        "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[%.6f,%.6f]},\"properties\":{"
        "\"timestamp\":\"%s\",\"altitude\":80,\"speed\":3,\"horizontal_accuracy\":5,\"vertical_accuracy\":4,"
        "\"motion\":[\"walking\"],\"battery_state\":\"unplugged\",\"battery_level\":0.87,\"wifi\":\"\"}}",
        longitude, latitude, time);
}

static void write_request(struct connection *connection) {
    static char body[body_limit];
    struct user *user = &users[connection->next_user];
    // Each user belongs to one connection where there are enough of them: then the fixes of one arrive in order.
    long next = connection->next_user + connection_count;
    long first = connection - connections;
    int length = 0;
    if (batch) length = sprintf(body, "{\"locations\":[");
    for (long i = 0; i < (batch ? batch : 1); i++) {
        if (i) body[length++] = ',';
        length = write_fix(user, connection->next_user, body, length);
        if (length + 4 >= body_limit) stop("--batch", "is too large");
    }
    if (batch) length += sprintf(body + length, "]}");
    connection->next_user = next < user_count ? next : first % user_count;
    connection->request_length = (size_t)snprintf(connection->request, request_limit,
        "POST %s HTTP/1.1\r\nHost: %s:%s\r\nAuthorization: %s\r\nContent-Type: application/json\r\n"
        "Content-Length: %d\r\n\r\n%s", batch ? "/overland" : "/owntracks", host, port, user->authorization, length, body);
    if (connection->request_length >= request_limit) stop("the request", "is too long");
    connection->sent = connection->got = 0;
    connection->waits = 1;
    connection->began_ns = nanoseconds();
    sent_requests++;
}

static void watch(struct connection *connection, int operation, uint32_t events) {
    struct epoll_event event = {events, {.ptr = connection}};
    if (epoll_ctl(poller, operation, connection->socket, &event)) stop("epoll_ctl", strerror(errno));
}

static void send_rest(struct connection *connection) {
    while (connection->sent < connection->request_length) {
        ssize_t count = send(connection->socket, connection->request + connection->sent,
                             connection->request_length - connection->sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EAGAIN) return watch(connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
        if (count < 0) return;  // the same error comes with the next read
        connection->sent += (size_t)count;
    }
}

static void open_connection(struct connection *connection) {
    connection->socket = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) stop("socket", strerror(errno));
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (connect(connection->socket, address->ai_addr, address->ai_addrlen) && errno != EINPROGRESS)
        stop("connect", strerror(errno));
    watch(connection, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
}

// The length of the whole answer at the head of the buffer, 0 if it is not all there yet.
static size_t answer_length(const struct connection *connection, size_t *head_length) {
    const char *end = memmem(connection->answer, connection->got, "\r\n\r\n", 4);
    if (!end) return 0;
    *head_length = (size_t)(end - connection->answer) + 4;
    size_t body = SIZE_MAX;
    for (const char *line = connection->answer; line < end; line = (char *)memchr(line, '\n', answer_limit) + 1) {
        if (!strncasecmp(line, "Content-Length:", 15)) body = strtoul(line + 15, NULL, 10);
        if (!strncasecmp(line, "Transfer-Encoding:", 18)) stop("an answer", "is chunked, which is not measured here");
    }
    if (body == SIZE_MAX) body = 0;
    if (*head_length + body >= answer_limit) stop("an answer", "is longer than 64 KiB");
    return connection->got >= *head_length + body ? *head_length + body : 0;
}

static void lose(struct connection *connection, int again) {
    lost_connections += connection->waits != 0;
    connection->waits = 0;
    close(connection->socket);
    connection->socket = -1;
    if (!again) return;
    if (++reconnects > reconnect_limit) stop(host, answers ? "keeps closing connections" : "cannot be reached");
    open_connection(connection);
}

static void read_answer(struct connection *connection, int may_send) {
    size_t room = answer_limit - connection->got - 1;
    ssize_t count = recv(connection->socket, connection->answer + connection->got, room, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return lose(connection, may_send);
    connection->got += (size_t)count;
    connection->answer[connection->got] = 0;
    size_t head, length = answer_length(connection, &head);
    if (!length) return;
    int64_t took_us = (nanoseconds() - connection->began_ns) / 1000;
    latencies[took_us < longest_us ? took_us : longest_us]++;
    answers++;
    int status = atoi(connection->answer + sizeof "HTTP/1.1");
    statuses[status > 0 && status < 600 ? status : 0]++;
    if (is_empty && (length - head != 2 || memcmp(connection->answer + head, "[]", 2))) wrong_bodies++;
    connection->waits = 0;
    if (strcasestr(connection->answer, "\r\nConnection: close")) return lose(connection, may_send);
    if (!may_send) return;
    write_request(connection);
    send_rest(connection);
}

static void serve(struct connection *connection, uint32_t events, int may_send) {
    if (events & EPOLLOUT) {
        watch(connection, EPOLL_CTL_MOD, EPOLLIN);
        if (!connection->waits && may_send) write_request(connection);
        send_rest(connection);
    }
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_answer(connection, may_send);
}

static int is_waiting(void) {
    for (long i = 0; i < connection_count; i++)
        if (connections[i].waits) return 1;
    return 0;
}

static double quantile_us(double share) {
    uint64_t wanted = (uint64_t)(share * (double)(answers - 1)) + 1, seen = 0;
    for (long i = 0; i <= longest_us; i++)
        if ((seen += latencies[i]) >= wanted) return (double)i;
    return longest_us;
}

static void read_options(int count, char **arguments) {
    static const struct option options[] = {{"host", 1, NULL, 'h'}, {"port", 1, NULL, 'p'}, {"batch", 1, NULL, 'b'},
        {"connections", 1, NULL, 'c'}, {"users", 1, NULL, 'u'}, {"seconds", 1, NULL, 's'}, {"start", 1, NULL, 't'},
        {"credentials", 1, NULL, 'f'}, {"empty", 0, NULL, 'e'}, {0}};
    start_second = (long)time(NULL) - 30 * 86400;
    for (int option; (option = getopt_long(count, arguments, "", options, NULL)) != -1;) {
        switch (option) {
        case 'h': host = optarg; break;
        case 'p': port = optarg; break;
        case 'b': batch = atol(optarg); break;
        case 'c': connection_count = atol(optarg); break;
        case 'u': user_count = atol(optarg); break;
        case 's': seconds = atol(optarg); break;
        case 't': start_second = atol(optarg); break;
        case 'f': credentials_path = optarg; break;
        case 'e': is_empty = 1; break;
        default: exit(2);
        }
    }
    if (!port || optind != count || (!credentials_path && !is_empty) || connection_count < 1 || user_count < 1
        || seconds < 1) stop("usage", "ingest_client --port P (--credentials FILE | --empty) [--host H] [--batch N]"
                                      " [--connections C] [--users U] [--seconds S] [--start UNIX]");
}

static void report(double took, double cpu) {
    printf("{\"benchmark\":\"ingest\",\"connections\":%ld,\"users\":%ld,\"seconds\":%.2f,\"requests\":%llu,"
           "\"answers\":%llu,\"requestsPerSecond\":%.0f,\"statuses\":{", connection_count, user_count, took,
           (unsigned long long)sent_requests, (unsigned long long)answers, (double)answers / took);
    const char *separator = "";
    for (int status = 0; status < 600; status++) {
        if (!statuses[status]) continue;
        printf("%s\"%d\":%llu", separator, status, (unsigned long long)statuses[status]);
        separator = ",";
    }
    printf("},\"wrongBodies\":%llu,\"lostConnections\":%llu,\"latencyP50Microseconds\":%.0f,"
           "\"latencyP99Microseconds\":%.0f,\"latencyP999Microseconds\":%.0f,"
           "\"clientCPUMicrosecondsPerRequest\":%.2f}\n",
           (unsigned long long)wrong_bodies, (unsigned long long)lost_connections, quantile_us(0.5), quantile_us(0.99),
           quantile_us(0.999), cpu * 1e6 / (double)answers);
}

int main(int count, char **arguments) {
    read_options(count, arguments);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    int trouble = getaddrinfo(host, port, &hints, &address);
    if (trouble) stop(host, gai_strerror(trouble));
    users = calloc((size_t)user_count, sizeof *users);
    connections = calloc((size_t)connection_count, sizeof *connections);
    latencies = calloc(longest_us + 1, sizeof *latencies);
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (!users || !connections || !latencies || poller < 0) stop("start", strerror(errno));
    read_credentials();
    for (long i = 0; i < connection_count; i++) {
        connections[i].next_user = i % user_count;
        open_connection(&connections[i]);
    }
    int64_t began = nanoseconds(), last_answer = began;
    int64_t until = began + seconds * 1000000000, drained = until + drain_seconds * 1000000000ll;
    for (int64_t now = began; now < until || (is_waiting() && now < drained); now = nanoseconds()) {
        struct epoll_event events[512];
        uint64_t before = answers;
        int ready = epoll_wait(poller, events, 512, 50);
        for (int i = 0; i < ready; i++) serve(events[i].data.ptr, events[i].events, now < until);
        if (answers > before) last_answer = nanoseconds();
    }
    if (!answers) stop("no answer", "is a server listening there?");
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    report((double)(last_answer - began) / 1e9,
           (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
               + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    return statuses[200] == answers && !wrong_bodies && answers == sent_requests ? 0 : 1;
}
