// selftest: a small C program with the log's tables, to judge the judges. scripts/faults/selftest runs it.
//
//   selftest write DIR full|normal|off COMMITS GROUP   inserts GROUP events per commit, then acknowledges each of them
//                                                       with a line in DIR/acks.ack; checkpoints in passive steps
//   selftest check                                      the checker that replay talks to
//
// Under full no crash may lose an acknowledged event; under normal and off many must, or record.c and replay.c could
// not be trusted when they find nothing. The content of every event follows from its number, so that a torn page shows.
#include <sqlite3.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { body_length = 170, leaf_length = 32, id_length = 16, compact_length = 640 };
enum { streams = 40, checkpoint_commits = 100 };

static const char schema[] =
    "CREATE TABLE event (number INTEGER PRIMARY KEY, stream INTEGER NOT NULL, version INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, recorded_at_ms INTEGER NOT NULL, actor INTEGER NOT NULL, correlation BLOB NOT NULL,"
    " cause INTEGER NOT NULL, body BLOB NOT NULL, leaf BLOB NOT NULL) STRICT;"
    "CREATE TABLE log (id BLOB NOT NULL, format INTEGER NOT NULL, epoch INTEGER NOT NULL, size INTEGER NOT NULL,"
    " compact_range BLOB NOT NULL, head BLOB NOT NULL) STRICT;"
    "INSERT INTO log VALUES (x'00', 1, 1, 0, x'', x'');";

static void fill(uint8_t *bytes, size_t length, uint64_t number) {
    uint64_t state = number * 0x9e3779b97f4a7c15u + length;
    for (size_t i = 0; i < length; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(state >> 56);
    }
}

static void must(int good, const char *what, sqlite3 *database) {
    if (good) return;
    fprintf(stderr, "selftest: %s: %s\n", what, database ? sqlite3_errmsg(database) : "failed");
    exit(2);
}

static int write_log(const char *directory, const char *mode, long commits, long group) {
    char path[4096], pragmas[100];
    sqlite3 *database = NULL;
    snprintf(path, sizeof path, "%s/log.sqlite", directory);
    must(sqlite3_open(path, &database) == SQLITE_OK, path, database);
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=%s", mode);
    must(sqlite3_exec(database, pragmas, NULL, NULL, NULL) == SQLITE_OK, "pragmas", database);
    must(sqlite3_exec(database, schema, NULL, NULL, NULL) == SQLITE_OK, "schema", database);
    sqlite3_stmt *insert, *head;
    static const char insert_sql[] = "INSERT INTO event VALUES (?,?,?,1,?,7,?,0,?,?)";
    static const char head_sql[] = "UPDATE log SET size=?, compact_range=?, head=?";
    must(sqlite3_prepare_v2(database, insert_sql, -1, &insert, NULL) == SQLITE_OK, "prepare", database);
    must(sqlite3_prepare_v2(database, head_sql, -1, &head, NULL) == SQLITE_OK, "prepare", database);
    snprintf(path, sizeof path, "%s/acks.ack", directory);
    int acks = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    must(acks >= 0, path, NULL);

    uint8_t body[body_length], leaf[leaf_length], id[id_length], compact[compact_length];
    char *lines = malloc((size_t)group * 24);
    must(lines != NULL, "memory", NULL);
    for (long commit = 0, number = 0; commit < commits; commit++) {
        size_t used = 0;
        must(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK, "begin", database);
        for (long i = 0; i < group; i++) {
            number++;
            fill(body, sizeof body, (uint64_t)number), fill(leaf, sizeof leaf, (uint64_t)number);
            fill(id, sizeof id, (uint64_t)number);
            sqlite3_bind_int64(insert, 1, number);
            sqlite3_bind_int64(insert, 2, number % streams);
            sqlite3_bind_int64(insert, 3, number / streams + 1);
            sqlite3_bind_int64(insert, 4, 1767225600000 + number);
            sqlite3_bind_blob(insert, 5, id, sizeof id, SQLITE_STATIC);
            sqlite3_bind_blob(insert, 6, body, sizeof body, SQLITE_STATIC);
            sqlite3_bind_blob(insert, 7, leaf, sizeof leaf, SQLITE_STATIC);
            must(sqlite3_step(insert) == SQLITE_DONE && sqlite3_reset(insert) == SQLITE_OK, "insert", database);
            used += (size_t)sprintf(lines + used, "%ld\n", number);
        }
        fill(compact, sizeof compact, (uint64_t)number);
        sqlite3_bind_int64(head, 1, number);
        sqlite3_bind_blob(head, 2, compact, sizeof compact, SQLITE_STATIC);
        sqlite3_bind_blob(head, 3, leaf, sizeof leaf, SQLITE_STATIC);
        must(sqlite3_step(head) == SQLITE_DONE && sqlite3_reset(head) == SQLITE_OK, "head", database);
        must(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) == SQLITE_OK, "commit", database);
        must(write(acks, lines, used) == (ssize_t)used, "acknowledge", NULL);
        if (commit % checkpoint_commits == checkpoint_commits - 1)
            must(sqlite3_wal_checkpoint_v2(database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL) == SQLITE_OK,
                 "checkpoint", database);
    }
    free(lines);
    sqlite3_finalize(insert), sqlite3_finalize(head);
    must(sqlite3_close(database) == SQLITE_OK, "close", database);
    return 0;
}

// What is wrong with the log in `directory`, in `text`; empty when all is well.
static void judge(const char *directory, long acknowledged, char *text, size_t room) {
    char path[4096];
    sqlite3 *database = NULL;
    sqlite3_stmt *rows = NULL;
    *text = 0;
    snprintf(path, sizeof path, "%s/log.sqlite", directory);
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK) {
        snprintf(text, room, "unopenable %s", sqlite3_errmsg(database));
        sqlite3_close(database);
        return;
    }
    // The checkpoint of the last close would rewrite the image each time, for nothing.
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_exec(database, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);  // no -shm file
    long count = 0;
    int step = sqlite3_prepare_v2(database, "SELECT count(*) FROM sqlite_schema", -1, &rows, NULL);
    if (step == SQLITE_OK) step = sqlite3_step(rows);
    int has_tables = step == SQLITE_ROW && sqlite3_column_int(rows, 0) == 2;
    sqlite3_finalize(rows), rows = NULL;
    if (step == SQLITE_ROW && has_tables) {
        step = sqlite3_prepare_v2(database, "SELECT number, body, leaf FROM event ORDER BY number", -1, &rows, NULL);
        while (step == SQLITE_OK || step == SQLITE_ROW) {
            uint8_t body[body_length], leaf[leaf_length];
            if ((step = sqlite3_step(rows)) != SQLITE_ROW) break;
            count++;
            fill(body, sizeof body, (uint64_t)count), fill(leaf, sizeof leaf, (uint64_t)count);
            if (sqlite3_column_int64(rows, 0) != count || sqlite3_column_bytes(rows, 1) != body_length
                || sqlite3_column_bytes(rows, 2) != leaf_length
                || memcmp(sqlite3_column_blob(rows, 1), body, sizeof body)
                || memcmp(sqlite3_column_blob(rows, 2), leaf, sizeof leaf)) {
                snprintf(text, room, "broken at event %ld", count);
                break;
            }
        }
        sqlite3_finalize(rows), rows = NULL;
        if (!*text && step == SQLITE_DONE) {
            step = sqlite3_prepare_v2(database, "SELECT size FROM log", -1, &rows, NULL);
            if (step == SQLITE_OK) step = sqlite3_step(rows);
            if (step == SQLITE_ROW && sqlite3_column_int64(rows, 0) != count)
                snprintf(text, room, "broken size %lld of %ld events", sqlite3_column_int64(rows, 0), count);
            sqlite3_finalize(rows), rows = NULL;
        }
    }
    if (!*text && step != SQLITE_ROW && step != SQLITE_DONE)
        snprintf(text, room, "corrupt after event %ld: %s", count, sqlite3_errmsg(database));
    if (!*text && count < acknowledged) snprintf(text, room, "lost %ld of %ld", acknowledged - count, acknowledged);
    sqlite3_close(database);
}

static int check(void) {
    char line[4200], directory[4000], text[500];
    long acknowledged;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "check %3999s %ld", directory, &acknowledged) != 2) return 2;
        judge(directory, acknowledged, text, sizeof text);
        if (*text) printf("fail %s\n", text);
        else puts("ok");
        fflush(stdout);
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count == 2 && !strcmp(arguments[1], "check")) return check();
    if (count == 6 && !strcmp(arguments[1], "write"))
        return write_log(arguments[2], arguments[3], atol(arguments[4]), atol(arguments[5]));
    fputs("usage: selftest write DIR full|normal|off COMMITS GROUP | selftest check\n", stderr);
    return 2;
}
