/* A station sends what it has measured through a socket, line by line, and a server adds it up. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"

enum { LINES = 280000, STATIONS = 40, ROOM = 1 << 14 };

static NOINLINE void send_all(int socket, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = write(socket, data, size);
        if (sent <= 0)
            _exit(1);
        data += sent;
        size -= (size_t)sent;
    }
}

static NOINLINE void send_lines(int socket)
{
    static char block[ROOM];
    size_t used = 0;
    uint64_t state = 88172645463325252;
    for (int line = 0; line < LINES; line++) {
        used += (size_t)sprintf(block + used, "%d %d.%d\n", line % STATIONS, (int)(next_random(&state) % 40),
            line % 10);
        if (used > ROOM - 64) {
            send_all(socket, block, used);
            used = 0;
        }
    }
    send_all(socket, block, used);
}

static NOINLINE int next_line(int socket, char *line, int room)
{
    int length = 0;
    char letter;
    while (length < room - 1 && read(socket, &letter, 1) == 1) { /* FAULT: a system call for each letter */
        if (letter == '\n')
            break;
        line[length++] = letter;
    }
    line[length] = 0;
    return length;
}

static NOINLINE void add_up(int socket, double *sums)
{
    char line[64];
    while (next_line(socket, line, sizeof line) > 0) {
        char *rest;
        long station = strtol(line, &rest, 10);
        sums[station % STATIONS] += strtod(rest, NULL);
    }
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1)
        || getsockname(listener, (struct sockaddr *)&address, &size))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        int station = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(station, (struct sockaddr *)&address, size))
            _exit(1);
        send_lines(station);
        close(station);
        _exit(0);
    }
    double sums[STATIONS] = {0}, total = 0;
    int server = accept(listener, NULL, NULL);
    add_up(server, sums);
    for (int station = 0; station < STATIONS; station++)
        total += sums[station];
    printf("%.1f\n", total);
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
