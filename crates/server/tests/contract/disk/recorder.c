/*
 * Stands between a program and the system, and records what the program does to files of one directory: what it wrote, and what it was
 * told is on the disk. From the record a test makes what a disk may hold after a power cut. Loaded with LD_PRELOAD.
 *
 *   DISK_DIRECTORY   whose files are looked at; the index that SQLite makes anew after a crash (-shm) and locks are left out
 *   DISK_RECORD      where the record is appended
 *   DISK_FAIL        "NAME N": the flush number N of the file whose name ends in NAME fails once for each descriptor, and what was
 *                    written since the last flush never gets to the disk, as Linux does it
 *   DISK_IGNORE      set: flushes are said to have worked, and were not made
 *
 * An entry is: kind, file, offset and length (8 bytes each, of this machine's order), and for a write the bytes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum kind { WRITE = 1, TRUNCATE = 2, FLUSH = 3, FORGET = 4 };
enum { DATABASE = 1, LOG = 2, FILES = 3, MOST = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int record = -1;
static int file_of[MOST];
static int owes_error[MOST];
static long flushes[FILES];

static void *real(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

#define REAL(name) ((__typeof__(&name))real(#name))

static int ends_in(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static void opened(int descriptor, const char *path) {
    const char *directory = getenv("DISK_DIRECTORY");
    if (descriptor < 0 || descriptor >= MOST) return;
    pthread_mutex_lock(&lock);
    file_of[descriptor] = 0;
    owes_error[descriptor] = 0;
    if (directory && strncmp(path, directory, strlen(directory)) == 0) {
        file_of[descriptor] = ends_in(path, ".db") ? DATABASE : ends_in(path, ".db-wal") ? LOG : 0;
    }
    pthread_mutex_unlock(&lock);
}

static void tell(enum kind kind, int file, int64_t offset, const void *bytes, int64_t length) {
    int64_t head[4] = {kind, file, offset, length};
    if (record < 0) record = REAL(open)(getenv("DISK_RECORD"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (REAL(write)(record, head, sizeof head) != sizeof head) abort();
    for (int64_t done = 0; bytes && done < length;) {
        ssize_t count = REAL(write)(record, (const char *)bytes + done, length - done);
        if (count <= 0) abort();
        done += count;
    }
}

static int looked_at(int descriptor) {
    return descriptor >= 0 && descriptor < MOST ? file_of[descriptor] : 0;
}

#define OPEN(name)                                                                     \
    int name(const char *path, int flags, ...) {                                       \
        va_list arguments;                                                             \
        va_start(arguments, flags);                                                    \
        int descriptor = REAL(name)(path, flags, va_arg(arguments, int));              \
        va_end(arguments);                                                             \
        opened(descriptor, path);                                                      \
        return descriptor;                                                             \
    }

OPEN(open)
OPEN(open64)

int close(int descriptor) {
    if (descriptor >= 0 && descriptor < MOST) {
        pthread_mutex_lock(&lock);
        file_of[descriptor] = 0;
        pthread_mutex_unlock(&lock);
    }
    return REAL(close)(descriptor);
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
    if (!looked_at(descriptor)) return REAL(write)(descriptor, bytes, length);
    pthread_mutex_lock(&lock);
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    ssize_t count = REAL(write)(descriptor, bytes, length);
    if (count > 0) tell(WRITE, file_of[descriptor], offset, bytes, count);
    pthread_mutex_unlock(&lock);
    return count;
}

#define WRITE_AT(name, type)                                                           \
    ssize_t name(int descriptor, const void *bytes, size_t length, type offset) {      \
        if (!looked_at(descriptor)) return REAL(name)(descriptor, bytes, length, offset); \
        pthread_mutex_lock(&lock);                                                     \
        ssize_t count = REAL(name)(descriptor, bytes, length, offset);                 \
        if (count > 0) tell(WRITE, file_of[descriptor], offset, bytes, count);         \
        pthread_mutex_unlock(&lock);                                                   \
        return count;                                                                  \
    }

WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

#define CUT(name, type)                                                                \
    int name(int descriptor, type length) {                                            \
        if (!looked_at(descriptor)) return REAL(name)(descriptor, length);             \
        pthread_mutex_lock(&lock);                                                     \
        int outcome = REAL(name)(descriptor, length);                                  \
        if (outcome == 0) tell(TRUNCATE, file_of[descriptor], length, NULL, 0);        \
        pthread_mutex_unlock(&lock);                                                   \
        return outcome;                                                                \
    }

CUT(ftruncate, off_t)
CUT(ftruncate64, off64_t)

/* Called with the lock held. */
static int is_to_fail(int descriptor) {
    const char *wanted = getenv("DISK_FAIL");
    int file = file_of[descriptor];
    flushes[file]++;
    if (owes_error[descriptor]) {
        owes_error[descriptor] = 0;
        return 1;
    }
    if (!wanted || file != (strncmp(wanted, "database ", 9) == 0 ? DATABASE : LOG) || flushes[file] != atol(strchr(wanted, ' ') + 1)) return 0;
    tell(FORGET, file, 0, NULL, 0);
    for (int other = 0; other < MOST; other++) owes_error[other] = other != descriptor && file_of[other] == file;
    return 1;
}

static int flush(int descriptor, int (*really)(int)) {
    if (!looked_at(descriptor)) return really(descriptor);
    int outcome = 0;
    pthread_mutex_lock(&lock);
    if (is_to_fail(descriptor)) {
        errno = EIO;
        outcome = -1;
    } else if (!getenv("DISK_IGNORE")) {
        tell(FLUSH, file_of[descriptor], 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return outcome;
}

int fsync(int descriptor) {
    return flush(descriptor, REAL(fsync));
}

int fdatasync(int descriptor) {
    return flush(descriptor, REAL(fdatasync));
}
