/*
 * Writes down every write and every sync of files under a folder, in order, so that a test can
 * ask what a disk would have had at any moment that kept only what was synced by then.
 * LD_PRELOAD it; TRACE names the file of the trace, WATCH the folder.
 *
 * A record: one letter (W write, T truncate, S sync, U unlink), then the length of the path and the
 * path, the offset, the length of the data and the data; numbers have eight bytes, as they lie in
 * memory.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;

#define REAL(name) (((__typeof__(&name))dlsym(RTLD_NEXT, #name)))

static void put(const void *data, size_t length) {
  const char *at = data;
  while (length > 0) {
    ssize_t done = REAL(write)(trace, at, length);
    if (done <= 0) abort();
    at += done;
    length -= (size_t)done;
  }
}

static void note(char what, const char *path, uint64_t offset, const void *data, uint64_t length) {
  const char *watch = getenv("WATCH");
  if (!watch || strncmp(path, watch, strlen(watch)) != 0) return;
  pthread_mutex_lock(&lock);
  if (trace < 0) trace = REAL(open)(getenv("TRACE"), O_CREAT | O_WRONLY | O_APPEND, 0600);
  uint64_t size = strlen(path);
  put(&what, 1);
  put(&size, 8);
  put(path, size);
  put(&offset, 8);
  put(&length, 8);
  if (data) put(data, length);
  pthread_mutex_unlock(&lock);
}

static const char *pathOf(int file) {
  static __thread char path[PATH_MAX];
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  return path;
}

ssize_t write(int file, const void *data, size_t length) {
  off_t at = lseek(file, 0, SEEK_CUR);
  int end = fcntl(file, F_GETFL) & O_APPEND;
  ssize_t done = REAL(write)(file, data, length);
  if (done > 0 && file != trace && at >= 0)
    note('W', pathOf(file), end ? (uint64_t)lseek(file, 0, SEEK_CUR) - (uint64_t)done : (uint64_t)at, data, (uint64_t)done);
  return done;
}

ssize_t pwrite(int file, const void *data, size_t length, off_t at) {
  ssize_t done = REAL(pwrite)(file, data, length, at);
  if (done > 0) note('W', pathOf(file), (uint64_t)at, data, (uint64_t)done);
  return done;
}

ssize_t pwrite64(int file, const void *data, size_t length, off64_t at) {
  ssize_t done = REAL(pwrite64)(file, data, length, at);
  if (done > 0) note('W', pathOf(file), (uint64_t)at, data, (uint64_t)done);
  return done;
}

int fsync(int file) {
  int done = REAL(fsync)(file);
  if (done == 0) note('S', pathOf(file), 0, NULL, 0);
  return done;
}

int fdatasync(int file) {
  int done = REAL(fdatasync)(file);
  if (done == 0) note('S', pathOf(file), 0, NULL, 0);
  return done;
}

int ftruncate(int file, off_t length) {
  int done = REAL(ftruncate)(file, length);
  if (done == 0) note('T', pathOf(file), (uint64_t)length, NULL, 0);
  return done;
}

int ftruncate64(int file, off64_t length) {
  int done = REAL(ftruncate64)(file, length);
  if (done == 0) note('T', pathOf(file), (uint64_t)length, NULL, 0);
  return done;
}

int unlink(const char *path) {
  int done = REAL(unlink)(path);
  if (done == 0) note('U', path, 0, NULL, 0);
  return done;
}
