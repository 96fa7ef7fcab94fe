// append_baseline: how fast can this machine append durably? The bare group-commit loop in C with the columns of the
// log, but no cryptography: the figure that the product's log is measured against.
//
//   append_baseline --dir DIR [--events 200000] [--warm-events 0] [--outstanding 64] [--threads 1] [--streams 10000]
//
// One or more producers keep `outstanding` appends each in flight (64 threads with --outstanding 1 are 64 clients); a
// writer thread takes all that is queued, at most 1,000, into one transaction, and acknowledges after the commit.
// WAL, synchronous=FULL, passive checkpoints by the writer's own connection between commits, from 16,000 pages on.
// `--warm-events` fill the log first, unmeasured, because the cost of an append depends on the log's size.
// Prints one JSON object. Latencies are from enqueueing to acknowledgement. The probe of the disk (4 KiB overwritten
// and synced) stands beside, as figures from two disks, or two moods of one disk, cannot be compared.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    body_length = 170, leaf_length = 32, correlation_length = 16, compact_range_length = 640,
    batch_limit = 1000, checkpoint_pages = 16000, pool_length = 1 << 20, probes = 400
};

struct append {
    int64_t enqueued_ns;
    uint64_t random;
    sem_t *room;  // posted when acknowledged
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct append *queue;  // a ring; never full, as producers wait for room
static long queue_capacity, queue_first, queue_count;
static long events = 200000, warm_events = 0, outstanding = 64, producers = 1, streams = 10000;
static uint8_t pool[pool_length];
static uint32_t *latencies_ns;  // of up to 4.2 s
static sqlite3 *database;
static sqlite3_stmt *insert, *update;
static int64_t *versions;
static int wal_pages;
static long commits, checkpoints;
static int64_t longest_checkpoint_ns, writer_cpu_ns;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "append_baseline: %s: %s\n", what, why);
    exit(2);
}

static void must(int code, const char *what) {
    if (code != SQLITE_OK && code != SQLITE_DONE) stop(what, database ? sqlite3_errmsg(database) : "failed");
}

static int64_t nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int count_pages(void *context, sqlite3 *of, const char *name, int pages) {
    (void)context, (void)of, (void)name;
    wal_pages = pages;
    return SQLITE_OK;
}

static void open_log(const char *path) {
    must(sqlite3_open(path, &database), path);
    must(sqlite3_exec(database,
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA mmap_size=0;"
        "PRAGMA cache_size=-65536;"
        "CREATE TABLE event (number INTEGER PRIMARY KEY, stream INTEGER NOT NULL, version INTEGER NOT NULL,"
        " kind INTEGER NOT NULL, recorded_at_ms INTEGER NOT NULL, actor INTEGER NOT NULL, correlation BLOB NOT NULL,"
        " cause INTEGER NOT NULL, body BLOB NOT NULL, leaf BLOB NOT NULL) STRICT;"
        "CREATE TABLE log (id BLOB NOT NULL, format INTEGER NOT NULL, epoch INTEGER NOT NULL, size INTEGER NOT NULL,"
        " compact_range BLOB NOT NULL, head BLOB NOT NULL) STRICT;"
        "INSERT INTO log VALUES (randomblob(16), 1, 1, 0, x'', x'');", NULL, NULL, NULL), "schema");
    sqlite3_wal_hook(database, count_pages, NULL);
    static const char insert_sql[] = "INSERT INTO event VALUES (?,?,?,?,?,?,?,?,?,?)";
    static const char update_sql[] = "UPDATE log SET size = ?, compact_range = ?, head = ?";
    must(sqlite3_prepare_v3(database, insert_sql, -1, SQLITE_PREPARE_PERSISTENT, &insert, NULL), "prepare");
    must(sqlite3_prepare_v3(database, update_sql, -1, SQLITE_PREPARE_PERSISTENT, &update, NULL), "prepare");
}

static void insert_event(int64_t number, uint64_t random, int64_t now_ms) {
    const uint8_t *bytes = pool + random % (pool_length - 512);
    long stream = (long)(random >> 32) % streams;
    sqlite3_bind_int64(insert, 1, number);
    sqlite3_bind_int64(insert, 2, stream);
    sqlite3_bind_int64(insert, 3, ++versions[stream]);
    sqlite3_bind_int64(insert, 4, 1);
    sqlite3_bind_int64(insert, 5, now_ms);
    sqlite3_bind_int64(insert, 6, stream);
    sqlite3_bind_blob(insert, 7, bytes, correlation_length, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 8, 0);
    sqlite3_bind_blob(insert, 9, bytes + correlation_length, body_length, SQLITE_STATIC);
    sqlite3_bind_blob(insert, 10, bytes + correlation_length + body_length, leaf_length, SQLITE_STATIC);
    must(sqlite3_step(insert), "insert");
    sqlite3_reset(insert);
}

static void commit(int64_t number, uint64_t random) {
    const uint8_t *bytes = pool + random % (pool_length - 1024);
    sqlite3_bind_int64(update, 1, number);
    sqlite3_bind_blob(update, 2, bytes, compact_range_length, SQLITE_STATIC);
    sqlite3_bind_blob(update, 3, bytes + compact_range_length, leaf_length, SQLITE_STATIC);
    must(sqlite3_step(update), "update");
    sqlite3_reset(update);
    must(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL), "commit");
}

static void checkpoint_if_due(void) {
    if (wal_pages < checkpoint_pages) return;
    int64_t began = nanoseconds(CLOCK_MONOTONIC);
    must(sqlite3_wal_checkpoint_v2(database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL), "checkpoint");
    int64_t took = nanoseconds(CLOCK_MONOTONIC) - began;
    if (took > longest_checkpoint_ns) longest_checkpoint_ns = took;
    checkpoints++;
    wal_pages = 0;
}

static void warm(void) {
    uint64_t random = 1;
    for (long number = 1; number <= warm_events;) {
        must(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL), "begin");
        for (int i = 0; i < batch_limit && number <= warm_events; i++) insert_event(number++, next_random(&random), 0);
        commit(number - 1, next_random(&random));
        checkpoint_if_due();
    }
    checkpoints = 0, longest_checkpoint_ns = 0;
}

static void *write_events(void *context) {
    (void)context;
    static struct append batch[batch_limit];
    for (long done = 0; done < events;) {
        pthread_mutex_lock(&lock);
        while (!queue_count) pthread_cond_wait(&arrived, &lock);
        long count = queue_count < batch_limit ? queue_count : batch_limit;
        for (long i = 0; i < count; i++) batch[i] = queue[(queue_first + i) % queue_capacity];
        queue_first = (queue_first + count) % queue_capacity;
        queue_count -= count;
        pthread_mutex_unlock(&lock);

        int64_t now_ms = nanoseconds(CLOCK_REALTIME) / 1000000;
        must(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL), "begin");
        for (long i = 0; i < count; i++) insert_event(warm_events + done + i + 1, batch[i].random, now_ms);
        commit(warm_events + done + count, batch[0].random);
        commits++;
        int64_t now = nanoseconds(CLOCK_MONOTONIC);
        for (long i = 0; i < count; i++) {
            int64_t waited = now - batch[i].enqueued_ns;
            latencies_ns[done + i] = waited < UINT32_MAX ? (uint32_t)waited : UINT32_MAX;
            sem_post(batch[i].room);
        }
        done += count;
        checkpoint_if_due();
    }
    writer_cpu_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static void *produce(void *context) {
    long producer = (long)context, share = events / producers + (producer < events % producers);
    uint64_t random = (uint64_t)producer + 1000;
    sem_t room;
    sem_init(&room, 0, (unsigned)outstanding);
    for (long i = 0; i < share; i++) {
        while (sem_wait(&room) && errno == EINTR) {}
        struct append append = {nanoseconds(CLOCK_MONOTONIC), next_random(&random), &room};
        pthread_mutex_lock(&lock);
        queue[(queue_first + queue_count++) % queue_capacity] = append;
        if (queue_count == 1) pthread_cond_signal(&arrived);
        pthread_mutex_unlock(&lock);
    }
    for (long i = 0; i < outstanding; i++)  // the semaphore lives on this stack until the last acknowledgement
        while (sem_wait(&room) && errno == EINTR) {}
    return NULL;
}

static int ascending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static double quantile_us(const uint32_t *sorted, long count, double share) {
    return sorted[(long)(share * (double)(count - 1) + 0.5)] / 1e3;
}

static void probe_disk(const char *directory, double *p50, double *p99) {
    char path[4096];
    static uint8_t block[4096];
    uint32_t took[probes];
    snprintf(path, sizeof path, "%s/probe", directory);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || pwrite(file, block, sizeof block, 0) < 0 || fsync(file)) stop(path, strerror(errno));
    for (int i = 0; i < probes; i++) {
        int64_t began = nanoseconds(CLOCK_MONOTONIC);
        block[0]++;
        if (pwrite(file, block, sizeof block, 0) < 0 || fdatasync(file)) stop(path, strerror(errno));
        took[i] = (uint32_t)(nanoseconds(CLOCK_MONOTONIC) - began);
    }
    close(file), unlink(path);
    qsort(took, probes, sizeof *took, ascending);
    *p50 = quantile_us(took, probes, 0.5), *p99 = quantile_us(took, probes, 0.99);
}

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
           + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void remove_log(const char *path) {
    for (const char **end = (const char *[]){"", "-wal", "-shm", NULL}; *end; end++) {
        char whole[4200];
        snprintf(whole, sizeof whole, "%s%s", path, *end);
        unlink(whole);
    }
}

int main(int count, char **arguments) {
    static const struct option options[] = {{"dir", 1, NULL, 'd'}, {"events", 1, NULL, 'e'},
        {"warm-events", 1, NULL, 'w'}, {"outstanding", 1, NULL, 'o'}, {"threads", 1, NULL, 't'},
        {"streams", 1, NULL, 's'}, {0}};
    const char *directory = NULL;
    for (int option; (option = getopt_long(count, arguments, "", options, NULL)) != -1;) {
        switch (option) {
        case 'd': directory = optarg; break;
        case 'e': events = atol(optarg); break;
        case 'w': warm_events = atol(optarg); break;
        case 'o': outstanding = atol(optarg); break;
        case 't': producers = atol(optarg); break;
        case 's': streams = atol(optarg); break;
        default: return 2;
        }
    }
    if (!directory || optind != count || events < 1 || warm_events < 0 || outstanding < 1 || producers < 1
        || streams < 1) stop("usage", "append_baseline --dir DIR [--events N] [--warm-events M] [--outstanding W]"
                                      " [--threads T] [--streams S]");
    char path[4096];
    snprintf(path, sizeof path, "%s/append_baseline.sqlite", directory);
    if (mkdir(directory, 0700) && errno != EEXIST) stop(directory, strerror(errno));
    remove_log(path);
    for (int i = 0; i < pool_length; i += 256)  // getrandom gives at most 256 bytes without interruption
        if (getrandom(pool + i, 256, 0) != 256) stop("getrandom", strerror(errno));
    queue_capacity = outstanding * producers;
    queue = calloc((size_t)queue_capacity, sizeof *queue);
    latencies_ns = calloc((size_t)events, sizeof *latencies_ns);
    versions = calloc((size_t)streams, sizeof *versions);
    pthread_t *threads = calloc((size_t)producers, sizeof *threads), writer;
    if (!queue || !latencies_ns || !versions || !threads) stop("memory", strerror(errno));

    double probe_p50, probe_p99;
    probe_disk(directory, &probe_p50, &probe_p99);
    open_log(path);
    warm();
    double cpu = cpu_seconds();
    int64_t began = nanoseconds(CLOCK_MONOTONIC);
    if (pthread_create(&writer, NULL, write_events, NULL)) stop("thread", "cannot be made");
    for (long i = 0; i < producers; i++)
        if (pthread_create(&threads[i], NULL, produce, (void *)i)) stop("thread", "cannot be made");
    for (long i = 0; i < producers; i++) pthread_join(threads[i], NULL);
    pthread_join(writer, NULL);
    double seconds = (double)(nanoseconds(CLOCK_MONOTONIC) - began) / 1e9;
    cpu = cpu_seconds() - cpu;
    sqlite3_finalize(insert), sqlite3_finalize(update);
    must(sqlite3_close(database), "close");
    struct stat status;
    if (stat(path, &status)) stop(path, strerror(errno));
    remove_log(path);

    qsort(latencies_ns, (size_t)events, sizeof *latencies_ns, ascending);
    printf("{\"benchmark\":\"append_baseline\",\"events\":%ld,\"warmEvents\":%ld,\"threads\":%ld,\"outstanding\":%ld,"
           "\"seconds\":%.3f,\"eventsPerSecond\":%.0f,\"eventsPerCommit\":%.1f,"
           "\"ackP50Microseconds\":%.0f,\"ackP99Microseconds\":%.0f,\"ackP999Microseconds\":%.0f,"
           "\"cpuMicrosecondsPerEvent\":%.2f,\"writerCPUMicrosecondsPerEvent\":%.2f,\"checkpoints\":%ld,"
           "\"longestCheckpointMilliseconds\":%.1f,\"bytesPerEvent\":%.0f,"
           "\"syncP50Microseconds\":%.0f,\"syncP99Microseconds\":%.0f}\n",
           events, warm_events, producers, outstanding, seconds, (double)events / seconds,
           (double)events / (double)commits, quantile_us(latencies_ns, events, 0.5),
           quantile_us(latencies_ns, events, 0.99), quantile_us(latencies_ns, events, 0.999),
           cpu * 1e6 / (double)events, (double)writer_cpu_ns / 1e3 / (double)events, checkpoints,
           (double)longest_checkpoint_ns / 1e6, (double)status.st_size / (double)(events + warm_events), probe_p50,
           probe_p99);
}
