// replay: what could a power cut have left of a recorded run, and is it good?
//
//   replay --recording FILE --states N [--seed S] [--state K] [--strict-entries] [--final DIR] [--timeout SECONDS]
//          --dir DIR -- CHECKER ARGUMENTS…
//
// For each of N states it picks a random moment of the recording (of record.c), writes one of the disk states that a
// crash at that moment can leave (the rules are in disk.h) into DIR, best on a tmpfs, and asks the checker:
//
//   to the checker, one line:    check DIR ACKCOUNT      ACKCOUNT = lines acknowledged before the crash; the lines
//   from the checker, one line:  ok  |  fail TEXT        themselves are in the file DIR.acks, in order
//
// The checker opens DIR as the program under test would after a restart, and may write there; it closes everything
// before it answers. If it dies or is silent for the timeout (60 s) the state has failed and it is started again.
//
// - Every state is a function of the seed and its own number: `--state K` makes only that one, and leaves it in DIR.
// - `--final DIR` proves that the recording is whole: all records applied give the files in DIR, byte for byte.
// - `--strict-entries`: a new file's name is durable only by a sync of its directory (POSIX), not by its own (ext4).
// - Exit 0: all good; 1: some state failed, the first of them told with seed and number; 2: usage, or no proper run.
#define _GNU_SOURCE
#include "disk.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { told_failures = 5, kinds_of_failure = 32 };

struct state {
    uint64_t point;  // records gone through
    uint64_t number;
};

struct checker {
    char **arguments;
    pid_t process;
    int to, from;
    int timeout_seconds;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void start_checker(struct checker *checker) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) fail("pipe: %s", strerror(errno));
    checker->process = fork();
    if (checker->process < 0) fail("fork: %s", strerror(errno));
    if (!checker->process) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execvp(checker->arguments[0], checker->arguments);
        fprintf(stderr, "replay: %s: %s\n", checker->arguments[0], strerror(errno));
        _exit(127);
    }
    close(in[0]), close(out[1]);
    checker->to = in[1], checker->from = out[0];
}

// Ends the checker: one that does not go by itself when its input ends, within `patience_ms`, is killed.
static int stop_checker(struct checker *checker, int patience_ms) {
    int status = 0;
    close(checker->to);
    struct pollfd wait = {checker->from, 0, 0};  // hangs up when the checker is gone
    poll(&wait, 1, patience_ms);
    if (!(wait.revents & POLLHUP)) kill(checker->process, SIGKILL);
    close(checker->from);
    waitpid(checker->process, &status, 0);
    return status;
}

// The checker's answer in `answer`: NULL for "ok", otherwise the text of the failure.
static const char *ask(struct checker *checker, const char *directory, char *answer, size_t room) {
    char question[4200];
    int length = snprintf(question, sizeof question, "check %s %llu\n", directory,
                          (unsigned long long)acknowledgements.count);
    const char *trouble = NULL;
    size_t got = 0;
    if (write(checker->to, question, (size_t)length) != length) trouble = "checker-died";
    double until = now() + checker->timeout_seconds;
    while (!trouble) {
        struct pollfd wait = {checker->from, POLLIN, 0};
        double left = until - now();
        if (left <= 0) { trouble = "checker-silent"; break; }
        if (poll(&wait, 1, (int)(left * 1000) + 1) <= 0) continue;
        ssize_t count = read(checker->from, answer + got, room - 1 - got);
        if (count <= 0) { trouble = "checker-died"; break; }
        got += (size_t)count;
        answer[got] = 0;
        char *end = strchr(answer, '\n');
        if (!end && got < room - 1) continue;
        if (end) *end = 0;
        if (!strcmp(answer, "ok")) return NULL;
        if (!strncmp(answer, "fail ", 5)) return answer + 5;
        fail("the checker answered neither ok nor fail: %.80s", answer);
    }
    int status = stop_checker(checker, 100);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) fail("the checker could not be started");
    start_checker(checker);
    return trouble;
}

static int by_point(const void *a, const void *b) {
    const struct state *first = a, *second = b;
    if (first->point != second->point) return first->point < second->point ? -1 : 1;
    return first->number < second->number ? -1 : first->number > second->number;
}

// Failures by the first word of their text.
static struct { char word[40]; uint64_t count; } kinds[kinds_of_failure];
static int kind_count;

static void tally(const char *text) {
    int length = (int)strcspn(text, " ");
    if (length > 39) length = 39;
    int i = 0;
    while (i < kind_count && (strncmp(kinds[i].word, text, (size_t)length) || kinds[i].word[length])) i++;
    if (i == kinds_of_failure) i--;  // the last kind is also the one for all others
    if (i == kind_count) snprintf(kinds[kind_count++].word, sizeof kinds[0].word, "%.*s", length, text);
    kinds[i].count++;
}

// The bytes acknowledged so far, appended to DIR.acks as the moments of the crash go on.
static void write_acknowledgements(int file, size_t *written) {
    while (*written < acknowledgements.length) {
        ssize_t count = write(file, acknowledgements.bytes + *written, acknowledgements.length - *written);
        if (count <= 0) fail("the file of acknowledgements: %s", strerror(errno));
        *written += (size_t)count;
    }
}

struct recording {
    const uint8_t *bytes;
    size_t length, offset;
};

// The next whole record, or NULL at the end; a last one cut short by a kill is not one.
static const struct record *next_record(struct recording *recording) {
    if (recording->length - recording->offset < sizeof(struct record)) return NULL;
    const struct record *record = (const struct record *)(recording->bytes + recording->offset);
    if (record->magic != RECORD_MAGIC) fail("not a recording at byte %zu", recording->offset);
    if (record->length > recording->length - recording->offset - sizeof *record) return NULL;
    recording->offset += sizeof *record + record->length;
    return record;
}

static struct recording open_recording(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status)) fail("%s: %s", path, strerror(errno));
    if (!status.st_size) fail("%s is empty", path);
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) fail("%s: %s", path, strerror(errno));
    close(file);
    return (struct recording){bytes, (size_t)status.st_size, 0};
}

__attribute__((noreturn)) static void show_usage(int status) {
    fputs("usage: replay --recording FILE --states N [--seed S] [--state K] [--strict-entries] [--final DIR]\n"
          "              [--timeout SECONDS] --dir DIR -- CHECKER ARGUMENTS…\n", status ? stderr : stdout);
    exit(status);
}

static uint64_t number_argument(const char *text) {
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (errno || *end || end == text) fail("not a number: %s", text);
    return number;
}

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"recording", 1, NULL, 'r'}, {"states", 1, NULL, 'n'}, {"seed", 1, NULL, 's'}, {"state", 1, NULL, 'k'},
        {"dir", 1, NULL, 'd'}, {"final", 1, NULL, 'f'}, {"timeout", 1, NULL, 't'}, {"strict-entries", 0, NULL, 'e'},
        {"help", 0, NULL, 'h'}, {0}};
    const char *recording_path = NULL, *directory = NULL, *final = NULL;
    uint64_t state_count = 0, seed = 1, only = UINT64_MAX;
    struct checker checker = {.timeout_seconds = 60};
    for (int option; (option = getopt_long(count, arguments, "+", options, NULL)) != -1;) {
        switch (option) {
        case 'r': recording_path = optarg; break;
        case 'n': state_count = number_argument(optarg); break;
        case 's': seed = number_argument(optarg); break;
        case 'k': only = number_argument(optarg); break;
        case 'd': directory = optarg; break;
        case 'f': final = optarg; break;
        case 't': checker.timeout_seconds = (int)number_argument(optarg); break;
        case 'e': strict_entries = 1; break;
        case 'h': show_usage(0);
        default: show_usage(2);
        }
    }
    checker.arguments = arguments + optind;
    if (!recording_path || !directory || !*checker.arguments) show_usage(2);
    if (only == UINT64_MAX && !state_count) show_usage(2);
    signal(SIGPIPE, SIG_IGN);
    if (mkdir(directory, 0700) && errno != EEXIST) fail("%s: %s", directory, strerror(errno));

    struct recording recording = open_recording(recording_path);
    uint64_t record_count = 0;
    while (next_record(&recording)) record_count++;
    recording.offset = 0;

    // Sorted by moment, so that one walk along the recording serves them all.
    uint64_t first = only == UINT64_MAX ? 0 : only, made = only == UINT64_MAX ? state_count : 1;
    struct state *states = grown(NULL, made * sizeof *states);
    for (uint64_t i = 0; i < made; i++)
        states[i] = (struct state){mix(mix(seed, 0), first + i) % (record_count + 1), first + i};
    qsort(states, made, sizeof *states, by_point);

    char path[4096];
    snprintf(path, sizeof path, "%s.acks", directory);
    int acks = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (acks < 0) fail("%s: %s", path, strerror(errno));
    size_t acks_written = 0;

    start_checker(&checker);
    uint64_t at = 0, failed = 0;
    double started = now(), checking = 0, told = 0;
    int is_terminal = isatty(2);
    for (uint64_t i = 0; i < made; i++) {
        for (; at < states[i].point; at++) {
            const struct record *record = next_record(&recording);
            disk_advance(record, (const uint8_t *)(record + 1));
        }
        write_acknowledgements(acks, &acks_written);
        disk_crash(directory, mix(mix(seed, 1), states[i].number));
        char answer[2000];
        double asked = now();
        const char *trouble = ask(&checker, directory, answer, sizeof answer);
        checking += now() - asked;
        if (trouble) {
            tally(trouble);
            if (failed++ < told_failures)
                fprintf(stderr, "%sstate %llu of seed %llu, %llu records in, %llu acknowledged: %s\n",
                        is_terminal ? "\r\033[K" : "", (unsigned long long)states[i].number, (unsigned long long)seed,
                        (unsigned long long)at, (unsigned long long)acknowledgements.count, trouble);
        }
        if (is_terminal && now() - told > 0.1) {
            told = now();
            double left = (told - started) / (double)(i + 1) * (double)(made - i - 1);
            fprintf(stderr, "\r\033[K%3llu %%  %llu of %llu states, %llu failed, %.0f s left",
                    (unsigned long long)(100 * (i + 1) / made), (unsigned long long)(i + 1),
                    (unsigned long long)made, (unsigned long long)failed, left);
        }
    }
    double took = now() - started;
    if (is_terminal) fputs("\r\033[K", stderr);
    stop_checker(&checker, 5000);

    for (const struct record *record; (record = next_record(&recording));)
        disk_advance(record, (const uint8_t *)(record + 1));
    char difference[300];
    if (final && !disk_equals(final, difference, sizeof difference))
        fail("the recording does not lead to what is in %s (%s): it missed something", final, difference);

    printf("%llu states of %llu records, %llu acknowledged: %llu good", (unsigned long long)made,
           (unsigned long long)record_count, (unsigned long long)acknowledgements.count,
           (unsigned long long)(made - failed));
    for (int i = 0; i < kind_count; i++)
        printf(", %llu %s", (unsigned long long)kinds[i].count, kinds[i].word);
    printf("; seed %llu, %.1f s, %.0f states/s without the checker's %.1f s\n", (unsigned long long)seed, took,
           (double)made / (took - checking), checking);
    return failed ? 1 : 0;
}
