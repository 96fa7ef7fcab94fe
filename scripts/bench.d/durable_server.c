// durable_server: the least that a server must do that never loses a post. It keeps the body of every POST as it came, and
// answers as the services of OwnTracks and Overland do only when the body is on the disk: the figure that the product's
// own taking of fixes is measured against. It looks at no credentials and reads no JSON.
//
//   durable_server DIRECTORY      on 127.0.0.1, on a port that the system chooses; prints the port once it listens; makes
//                                 DIRECTORY/durable_server.sqlite anew; ends on SIGTERM
//
// A body posted to /rows/N becomes N rows of one transaction, any other one.
//
// One thread drives libmicrohttpd from outside, like the product's, and suspends a request's connection once its body is
// in. A writer thread takes all that is queued, at most 1,000, into one transaction and commits it; then the connections
// go on. WAL, synchronous=FULL, passive checkpoints by the writer between commits, from 16,000 pages on.
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { body_limit = 1 << 20, batch_limit = 1000, checkpoint_pages = 16000 };

struct post {
    struct MHD_Connection *connection;
    struct post *next;
    struct MHD_Response *answer;
    size_t length, room;
    int rows, is_durable;
    char *body;
};

struct list {
    struct post *first, **end;
};

static volatile sig_atomic_t stopping;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct list queued = {NULL, &queued.first}, durable = {NULL, &durable.first};  // under the lock
static int wake;
static sqlite3 *database;
static sqlite3_stmt *begin, *insert, *commit;
static int wal_pages;
static struct MHD_Response *own_tracks, *overland;

static void stop(int signal) {
    (void)signal;
    stopping = 1;
}

static void fail(const char *what, const char *why) {
    fprintf(stderr, "durable_server: %s: %s\n", what, why);
    _exit(2);
}

static void must(int code, const char *what) {
    if (code != SQLITE_OK && code != SQLITE_DONE) fail(what, database ? sqlite3_errmsg(database) : "failed");
}

static int64_t milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void add(struct list *list, struct post *post) {
    post->next = NULL;
    *list->end = post;
    list->end = &post->next;
}

// MARK: The writer

static int count_pages(void *context, sqlite3 *of, const char *name, int pages) {
    (void)context, (void)of, (void)name;
    wal_pages = pages;
    return SQLITE_OK;
}

static void open_log(const char *directory) {
    char path[4096];
    for (const char **end = (const char *[]){"-wal", "-shm", "", NULL}; *end; end++) {
        snprintf(path, sizeof path, "%s/durable_server.sqlite%s", directory, *end);
        unlink(path);
    }
    must(sqlite3_open(path, &database), path);
    must(sqlite3_exec(database,
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA mmap_size=0;"
        "PRAGMA cache_size=-65536;"
        "CREATE TABLE post (number INTEGER PRIMARY KEY, received_at_ms INTEGER NOT NULL, body BLOB NOT NULL) STRICT;",
        NULL, NULL, NULL), "schema");
    sqlite3_wal_hook(database, count_pages, NULL);
    const char *sql[] = {"BEGIN IMMEDIATE", "INSERT INTO post (received_at_ms, body) VALUES (?, ?)", "COMMIT"};
    sqlite3_stmt **statements[] = {&begin, &insert, &commit};
    for (int i = 0; i < 3; i++)
        must(sqlite3_prepare_v3(database, sql[i], -1, SQLITE_PREPARE_PERSISTENT, statements[i], NULL), sql[i]);
}

static void run(sqlite3_stmt *statement) {
    must(sqlite3_step(statement), sqlite3_sql(statement));
    sqlite3_reset(statement);
}

static void *write_posts(void *context) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!queued.first) pthread_cond_wait(&arrived, &lock);
        struct post *first = queued.first, *last = first;
        for (int i = 1; i < batch_limit && last->next; i++) last = last->next;
        queued.first = last->next;
        if (!queued.first) queued.end = &queued.first;
        last->next = NULL;
        pthread_mutex_unlock(&lock);

        int64_t now = milliseconds();
        run(begin);
        for (struct post *post = first; post; post = post->next) {
            for (int row = 0; row < post->rows; row++) {
                sqlite3_bind_int64(insert, 1, now);
                sqlite3_bind_blob64(insert, 2, post->body, post->length, SQLITE_STATIC);
                run(insert);
            }
        }
        run(commit);

        pthread_mutex_lock(&lock);
        *durable.end = first;
        durable.end = &last->next;
        pthread_mutex_unlock(&lock);
        eventfd_write(wake, 1);
        if (wal_pages < checkpoint_pages) continue;
        must(sqlite3_wal_checkpoint_v2(database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL), "checkpoint");
        wal_pages = 0;
    }
    return context;
}

// MARK: The server

static enum MHD_Result respond(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *bytes, size_t *length, void **request) {
    (void)context, (void)version;
    struct post *post = *request;
    if (!post) {
        if (strcmp(method, "POST")) return MHD_NO;
        if (!(post = calloc(1, sizeof *post))) return MHD_NO;
        post->connection = connection;
        post->answer = strcmp(url, "/overland") ? own_tracks : overland;
        post->rows = strncmp(url, "/rows/", 6) ? 1 : atoi(url + 6);
        *request = post;
        return MHD_YES;
    }
    if (*length) {
        size_t needed = post->length + *length;
        if (needed > body_limit) return MHD_NO;
        if (needed > post->room) {
            size_t room = needed > 2 * post->room ? needed : 2 * post->room;
            char *body = realloc(post->body, room);
            if (!body) return MHD_NO;
            post->body = body, post->room = room;
        }
        memcpy(post->body + post->length, bytes, *length);
        post->length = needed;
        *length = 0;
        return MHD_YES;
    }
    if (post->is_durable) return MHD_queue_response(connection, 200, post->answer);
    MHD_suspend_connection(connection);
    pthread_mutex_lock(&lock);
    int is_first = !queued.first;
    add(&queued, post);
    if (is_first) pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
    return MHD_YES;
}

static void end(void *context, struct MHD_Connection *connection, void **request,
                enum MHD_RequestTerminationCode code) {
    (void)context, (void)connection, (void)code;
    struct post *post = *request;
    if (!post) return;
    free(post->body);
    free(post);
}

static void resume_durable(void) {
    eventfd_t count;
    if (eventfd_read(wake, &count)) return;
    pthread_mutex_lock(&lock);
    struct post *post = durable.first;
    durable = (struct list){NULL, &durable.first};
    pthread_mutex_unlock(&lock);
    while (post) {
        struct post *next = post->next;
        post->is_durable = 1;
        MHD_resume_connection(post->connection);
        post = next;
    }
}

static struct MHD_Response *make_answer(char *text) {
    struct MHD_Response *answer = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_PERSISTENT);
    if (!answer || MHD_add_response_header(answer, "Content-Type", "application/json") != MHD_YES)
        fail("answer", "cannot be made");
    return answer;
}

int main(int count, char **arguments) {
    if (count != 2) fail("usage", "durable_server DIRECTORY");
    struct sigaction action = {.sa_handler = stop};  // without SA_RESTART: poll ends
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    own_tracks = make_answer("[]");
    overland = make_answer("{\"result\":\"ok\"}");
    open_log(arguments[1]);
    pthread_t writer;
    wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0 || pthread_create(&writer, NULL, write_posts, NULL)) fail("start", "no thread");
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, respond, NULL,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, 16384u,
        MHD_OPTION_NOTIFY_COMPLETED, end, NULL, MHD_OPTION_END);
    const union MHD_DaemonInfo *info = daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    const union MHD_DaemonInfo *bound = info ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!bound) fail("127.0.0.1", "cannot listen");
    printf("%d\n", bound->port);
    fflush(stdout);
    struct pollfd ready[] = {{info->epoll_fd, POLLIN, 0}, {wake, POLLIN, 0}};
    while (!stopping) {
        MHD_UNSIGNED_LONG_LONG wait = 1000;
        if (MHD_get_timeout(daemon, &wait) != MHD_YES || wait > 1000) wait = 1000;
        poll(ready, 2, (int)wait);
        resume_durable();
        MHD_run(daemon);
    }
    _exit(0);  // what is durable is on the disk, and what is not was not answered
}
