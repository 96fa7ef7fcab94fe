// scan_baseline: how fast can this machine read a log? A C loop over the rows of `event`: every column, and with
// --decrypt 1 one AES-256-GCM per event over the last bytes of the body, as much work as opening its sealed part. The key is
// not the log's, so nothing is learned; the tag is not compared.
//
//   scan_baseline --log FILE [--decrypt 0|1]
//
// Prints one JSON object.
#define _GNU_SOURCE
#include <openssl/evp.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { nonce_length = 12, tag_length = 16, sealed_most = 256 };

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void stop(const char *what) {
    fprintf(stderr, "scan_baseline: %s\n", what);
    exit(2);
}

int main(int count, char **words) {
    const char *log = NULL;
    int decrypts = 0;
    for (int i = 1; i + 1 < count; i += 2) {
        if (!strcmp(words[i], "--log")) log = words[i + 1];
        else if (!strcmp(words[i], "--decrypt")) decrypts = atoi(words[i + 1]);
        else stop("usage: scan_baseline --log FILE [--decrypt 0|1]");
    }
    sqlite3 *database;
    sqlite3_stmt *scan;
    if (!log || sqlite3_open_v2(log, &database, SQLITE_OPEN_READONLY, NULL)) stop("the log cannot be opened");
    if (sqlite3_prepare_v2(database,
            "SELECT number, stream, version, kind, recorded_at_ms, actor, correlation, cause, body, leaf FROM event"
            " ORDER BY number", -1, &scan, NULL))
        stop(sqlite3_errmsg(database));
    uint8_t key[32] = {1}, opened[sealed_most], sum = 0;
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!cipher || !context || !EVP_DecryptInit_ex2(context, cipher, key, NULL, NULL)) stop("no cipher");
    double began = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int64_t events = 0, total = 0;
    int code;
    while ((code = sqlite3_step(scan)) == SQLITE_ROW) {
        for (int column = 0; column < 6; column++) total += sqlite3_column_int64(scan, column);
        total += sqlite3_column_int64(scan, 7);
        for (int column = 6; column < 10; column += column == 6 ? 2 : 1) {
            const uint8_t *bytes = sqlite3_column_blob(scan, column);
            int length = sqlite3_column_bytes(scan, column);
            if (length) sum ^= bytes[0] ^ bytes[length - 1];
            if (column != 8 || !decrypts || length < nonce_length + tag_length + 8) continue;
            int sealed = length - nonce_length - tag_length - 8, written;
            if (sealed > sealed_most) sealed = sealed_most;
            const uint8_t *end = bytes + length - tag_length;
            if (!EVP_DecryptInit_ex2(context, NULL, NULL, end - sealed - nonce_length, NULL)
                || !EVP_DecryptUpdate(context, NULL, &written, bytes, 8)
                || !EVP_DecryptUpdate(context, opened, &written, end - sealed, sealed)
                || !EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_length, (void *)end))
                stop("the cipher fails");
            EVP_DecryptFinal_ex(context, opened, &written);
            sum ^= opened[0];
        }
        events++;
    }
    if (code != SQLITE_DONE) stop(sqlite3_errmsg(database));
    double taken = seconds(CLOCK_MONOTONIC) - began;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("{\"benchmark\":\"scan_baseline\",\"decrypts\":%d,\"events\":%lld,\"eventsPerSecond\":%.0f,"
           "\"eventsPerCPUSecond\":%.0f,\"sum\":%lld}\n",
        decrypts, (long long)events, events / taken, events / cpu, (long long)(total + sum));
    return 0;
}
