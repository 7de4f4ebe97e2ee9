/* Two hosts in one machine, joined by a lossy wire.
 *
 *   bridge DELAY_MS LOSS SEED COMMAND...
 *
 * Runs COMMAND twice, in two network namespaces of its own: once with `a` as its last argument
 * and address 10.99.0.1, once with `b` and 10.99.0.2. Each has a TUN device; what one writes is
 * lost with probability LOSS or read by the other DELAY_MS later, in order. Needs root or
 * CAP_NET_ADMIN, and /dev/net/tun. Ends when `a` ends, with its exit code. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_MAX 16384
#define PACKET_MAX 1500

struct packet {
  double at;
  int length;
  unsigned char bytes[PACKET_MAX];
};

static struct packet *queues[2];
static unsigned heads[2], tails[2];
static uint64_t state;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static double chance(void) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (state >> 11) / 9007199254740992.0;
}

static void must(int ok, const char *what) {
  if (ok) return;
  perror(what);
  exit(70);
}

static void address(int s, struct ifreq *r, unsigned long request, const char *text) {
  struct sockaddr_in *to = (struct sockaddr_in *)&r->ifr_addr;
  memset(to, 0, sizeof *to);
  to->sin_family = AF_INET;
  inet_pton(AF_INET, text, &to->sin_addr);
  must(ioctl(s, request, r) == 0, text);
}

static void up(int s, const char *name) {
  struct ifreq r;
  memset(&r, 0, sizeof r);
  strcpy(r.ifr_name, name);
  r.ifr_flags = IFF_UP | IFF_RUNNING;
  must(ioctl(s, SIOCSIFFLAGS, &r) == 0, "interface up");
}

/* A TUN device in a fresh namespace, which this process stays in. */
static int enter(int side) {
  const char *own = side ? "10.99.0.2" : "10.99.0.1", *other = side ? "10.99.0.1" : "10.99.0.2";
  struct ifreq r;
  must(unshare(CLONE_NEWNET) == 0, "a network namespace (needs root)");
  int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  must(tun >= 0, "/dev/net/tun");
  memset(&r, 0, sizeof r);
  r.ifr_flags = IFF_TUN | IFF_NO_PI;
  strcpy(r.ifr_name, "wire");
  must(ioctl(tun, TUNSETIFF, &r) == 0, "TUN device");
  int s = socket(AF_INET, SOCK_DGRAM, 0);
  address(s, &r, SIOCSIFADDR, own);
  address(s, &r, SIOCSIFDSTADDR, other);
  r.ifr_mtu = 1400;
  must(ioctl(s, SIOCSIFMTU, &r) == 0, "mtu");
  up(s, "wire");
  up(s, "lo");
  close(s);
  return tun;
}

static void hand_over(int to, int fd) {
  char byte = 0, space[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(c), &fd, sizeof fd);
  must(sendmsg(to, &m, 0) == 1, "hand over");
}

static int take_over(int from) {
  char byte, space[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  int fd;
  if (recvmsg(from, &m, 0) != 1) exit(70);
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
  return fd;
}

static pid_t start(int side, char **command, int count, int *tun) {
  int pair[2];
  must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  pid_t child = fork();
  must(child >= 0, "fork");
  if (child == 0) {
    char **all = calloc(count + 2, sizeof *all);
    memcpy(all, command, count * sizeof *all);
    all[count] = side ? "b" : "a";
    close(pair[0]);
    int own = enter(side);
    hand_over(pair[1], own);
    close(own);
    close(pair[1]);
    execvp(all[0], all);
    must(0, all[0]);
  }
  close(pair[1]);
  *tun = take_over(pair[0]);
  close(pair[0]);
  return child;
}

static void carry(int *tuns, int k, double delay, double loss) {
  unsigned char bytes[PACKET_MAX];
  int length;
  while ((length = read(tuns[k], bytes, sizeof bytes)) > 0) {
    if (chance() < loss || tails[k] - heads[k] == QUEUE_MAX) continue;
    struct packet *p = &queues[k][tails[k]++ % QUEUE_MAX];
    p->at = now() + delay;
    p->length = length;
    memcpy(p->bytes, bytes, length);
  }
}

int main(int count, char **words) {
  int tuns[2], status;
  if (count < 5) return 64;
  double delay = atof(words[1]), loss = atof(words[2]);
  state = strtoull(words[3], 0, 10) * 2654435761ull + 1;
  queues[0] = malloc(QUEUE_MAX * sizeof **queues);
  queues[1] = malloc(QUEUE_MAX * sizeof **queues);
  pid_t b = start(1, words + 4, count - 4, &tuns[1]);
  pid_t a = start(0, words + 4, count - 4, &tuns[0]);
  for (;;) {
    double next = now() + 50;
    for (int k = 0; k < 2; k++) {
      for (; heads[k] != tails[k]; heads[k]++) {
        struct packet *p = &queues[k][heads[k] % QUEUE_MAX];
        if (p->at > now()) {
          if (p->at < next) next = p->at;
          break;
        }
        if (write(tuns[!k], p->bytes, p->length) < 0) continue;
      }
    }
    if (waitpid(a, &status, WNOHANG) == a) break;
    double wait = next - now();
    struct timespec t = {0, wait > 0 ? (long)(wait * 1e6) : 0};
    struct pollfd polled[2] = {{tuns[0], POLLIN, 0}, {tuns[1], POLLIN, 0}};
    ppoll(polled, 2, &t, 0);
    for (int k = 0; k < 2; k++) carry(tuns, k, delay, loss);
  }
  kill(b, SIGTERM);
  waitpid(b, 0, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 70;
}
