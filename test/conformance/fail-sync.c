/*
 * A disk whose syncs fail while a file of that name exists. LD_PRELOAD it; FAIL names the file,
 * WATCH the folder whose files it is about.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int file) {
  const char *watch = getenv("WATCH"), *fail = getenv("FAIL");
  char link[64], path[PATH_MAX];
  if (!watch || !fail || access(fail, F_OK) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  return strncmp(path, watch, strlen(watch)) == 0;
}

static int refuse(void) {
  errno = EIO;
  return -1;
}

int fsync(int file) {
  return fails(file) ? refuse() : ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
  return fails(file) ? refuse() : ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
