/*
 * A disk that is full for as long as the file that FULL_DISK names is there: nothing can be written at a place in a file, but for the index of
 * a log (-shm), for which the program keeps room. Loaded with LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int is_index(int file)
{
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, name, sizeof name);
    return length > 4 && memcmp(name + length - 4, "-shm", 4) == 0;
}

static int is_full_for(int file)
{
    const char *path = getenv("FULL_DISK");
    return path && access(path, F_OK) == 0 && !is_index(file);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t place)
{
    if (is_full_for(file)) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, file, bytes, length, place);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t place)
{
    return pwrite64(file, bytes, length, place);
}
