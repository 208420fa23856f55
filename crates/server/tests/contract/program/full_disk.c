/*
 * A disk that is full for as long as the file that FULL_DISK names is there: nothing can be written at a place in a file. Loaded with LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int is_full(void)
{
    const char *path = getenv("FULL_DISK");
    return path && access(path, F_OK) == 0;
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t place)
{
    if (is_full()) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, file, bytes, length, place);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t place)
{
    return pwrite64(file, bytes, length, place);
}
