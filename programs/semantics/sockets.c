/* Sockets: unix and loopback; accept and connect, the send and receive families. */
#include "cases.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

static struct sockaddr_un address;
static socklen_t address_length;

/* A name that no file has to be removed for. */
static void make_address(void)
{
    address.sun_family = AF_UNIX;
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "semantics-%ld", (long)getpid());
    address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int new_socket(int type) { return socket(AF_UNIX, type | SOCK_CLOEXEC, 0); }

static int connected(void)
{
    int client = new_socket(SOCK_STREAM);
    if (connect(client, (struct sockaddr *)&address, address_length) != 0)
        event("failed");
    return client;
}

struct accepting {
    int listener, flags, accepted;
};

static void *accept_one(void *argument)
{
    struct accepting *accepting = argument;
    arrive();
    accepting->accepted = accepting->flags == 0 ? accept(accepting->listener, NULL, NULL)
                                                : accept4(accepting->listener, NULL, NULL, accepting->flags);
    event(accepting->accepted >= 0 ? "accepted" : "failed");
    return NULL;
}

static void connections(void)
{
    int listener = new_socket(SOCK_STREAM), other = new_socket(SOCK_STREAM);
    outcome("socket, no such family", "-1 EINVAL", "%s", OUT(socket(AF_UNIX, 77, 0)));
    outcome("connect, nobody listens", "-1 ECONNREFUSED", "%s",
            OUT(connect(other, (struct sockaddr *)&address, address_length)));
    outcome("accept before listen", "-1 EINVAL", "%s", OUT(accept(listener, NULL, NULL)));
    outcome("bind", "0", "%s", OUT(bind(listener, (struct sockaddr *)&address, address_length)));
    outcome("listen", "0", "%s", OUT(listen(listener, 5)));
    outcome("bind of a name in use", "-1 EADDRINUSE", "%s",
            OUT(bind(other, (struct sockaddr *)&address, address_length)));
    outcome("accept of no file", "-1 EBADF", "%s", OUT(accept(987, NULL, NULL)));
    outcome("accept of no socket", "-1 ENOTSOCK", "%s", ({
                int file = open("/dev/null", O_RDWR);
                const char *text = OUT(accept(file, NULL, NULL));
                close(file);
                text;
            }));
    handle(SIGUSR1, count_signal, 0);
    outcome("accept, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(accept(listener, NULL, NULL))));

    for (int four = 0; four < 2; four++) {
        struct accepting accepting = {listener, four ? SOCK_CLOEXEC | SOCK_NONBLOCK : 0, -1};
        struct worker acceptor;
        start(&acceptor, accept_one, &accepting);
        until_asleep(&acceptor);
        event("connecting");
        int client = connected();
        finish(&acceptor);
        outcome(four ? "accept4, woken" : "accept, woken", "connecting accepted", "%s", events());
        if (four)
            outcome("accept4: flags", "1 1", "%s",
                    BOTH(number(fcntl(accepting.accepted, F_GETFD) == FD_CLOEXEC),
                         number((fcntl(accepting.accepted, F_GETFL) & O_NONBLOCK) != 0)));
        close(client);
        close(accepting.accepted);
    }
    outcome("connect twice", "-1 EISCONN", "%s", ({
                int client = connected();
                const char *text = OUT(connect(client, (struct sockaddr *)&address, address_length));
                close(client);
                text;
            }));
    close(accept(listener, NULL, NULL));
    fcntl(listener, F_SETFL, O_NONBLOCK);
    outcome("accept, nobody there", "-1 EAGAIN", "%s", OUT(accept(listener, NULL, NULL)));
    outcome("accept4, no such flag", "-1 EINVAL", "%s", OUT(accept4(listener, NULL, NULL, 1)));
    outcome("connect of no file", "-1 EBADF", "%s",
            OUT(connect(987, (struct sockaddr *)&address, address_length)));
    close(listener);
    close(other);
}

static int ends[2];

static void *send_when_asleep(void *sleeper)
{
    until_asleep(sleeper);
    event("sending");
    if (send(ends[1], "12345", 5, 0) != 5)
        event("failed");
    return NULL;
}

static void *receive(void *how)
{
    char buffer[16];
    struct iovec into = {buffer, sizeof buffer};
    struct msghdr message = {.msg_iov = &into, .msg_iovlen = 1};
    struct mmsghdr several = {.msg_hdr = message};
    ssize_t length = -1;
    arrive();
    switch (*(char *)how) {
    case 'r': length = recv(ends[0], buffer, sizeof buffer, 0); break;
    case 'f': length = recvfrom(ends[0], buffer, sizeof buffer, 0, NULL, NULL); break;
    case 'm': length = recvmsg(ends[0], &message, 0); break;
    case 'M': length = recvmmsg(ends[0], &several, 1, 0, NULL) == 1 ? (ssize_t)several.msg_len : -1; break;
    }
    event(length == 5 && memcmp(buffer, "12345", 5) == 0 ? "received" : "failed");
    return NULL;
}

static void waking(void)
{
    static const char *const names[] = {"recv, woken", "recvfrom, woken", "recvmsg, woken",
                                        "recvmmsg, woken"};
    static const char *const hows[] = {"r", "f", "m", "M"};
    for (int i = 0; i < 4; i++) {
        struct worker receiver, sender;
        start(&receiver, receive, (void *)hows[i]);
        start(&sender, send_when_asleep, &receiver);
        finish(&receiver);
        finish(&sender);
        outcome(names[i], "sending received", "%s", events());
    }
}

static void transfers(void)
{
    char buffer[64] = "";
    struct iovec pieces[] = {{"abc", 3}, {"de", 2}}, into = {buffer, sizeof buffer};
    struct msghdr out = {.msg_iov = pieces, .msg_iovlen = 2}, in = {.msg_iov = &into, .msg_iovlen = 1};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    waking();
    outcome("send", "4", "%s", OUT(send(ends[1], "wxyz", 4, 0)));
    outcome("recv, peeking", "2", "%s", OUT(recv(ends[0], buffer, 2, MSG_PEEK)));
    outcome("recv, short", "4", "%s", OUT(recv(ends[0], buffer, sizeof buffer, 0)));
    outcome("recv, when empty", "-1 EAGAIN", "%s", OUT(recv(ends[0], buffer, 1, MSG_DONTWAIT)));
    outcome("recvmsg, when empty", "-1 EAGAIN", "%s", OUT(recvmsg(ends[0], &in, MSG_DONTWAIT)));
    outcome("sendto with an address on a connection", "-1 EISCONN", "%s",
            OUT(sendto(ends[1], "q", 1, 0, (struct sockaddr *)&address, address_length)));
    outcome("sendmsg", "5", "%s", OUT(sendmsg(ends[1], &out, 0)));
    outcome("recvmsg", "5 abcde", "%s", BOTH(OUT(recvmsg(ends[0], &in, 0)), buffer));
    outcome("write", "3", "%s", OUT(write(ends[1], "123", 3)));
    outcome("read", "3", "%s", OUT(read(ends[0], buffer, sizeof buffer)));
    struct mmsghdr two[2] = {{.msg_hdr = out}, {.msg_hdr = out}};
    outcome("sendmmsg", "2", "%s", OUT(sendmmsg(ends[1], two, 2, 0)));
    outcome("recv, all of it", "10", "%s", OUT(recv(ends[0], buffer, 10, MSG_WAITALL)));
    outcome("send, bad pointer", "-1 EFAULT", "%s", OUT(send(ends[1], nowhere, 4, 0)));
    outcome("send of no file", "-1 EBADF", "%s", OUT(send(987, "q", 1, 0)));
    outcome("recv of no file", "-1 EBADF", "%s", OUT(recv(987, buffer, 1, 0)));
    outcome("recv, interrupted", "-1 EINTR", "%s", INTERRUPTED(SIGUSR1, OUT(recv(ends[0], buffer, 1, 0))));

    struct timeval shortly = {0, SHORTLY_MS * 1000};
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &shortly, sizeof shortly);
    outcome("recv with a time limit", "-1 EAGAIN", "%s", NOT_EARLY(OUT(recv(ends[0], buffer, 1, 0))));
    errno = 1234;
    (void)!send(ends[1], "q", 1, 0);
    (void)!recv(ends[0], buffer, 1, 0);
    outcome("send and recv: errno stays", "1234", "%d", errno);

    outcome("shutdown", "0", "%s", OUT(shutdown(ends[1], SHUT_WR)));
    outcome("recv after it", "0", "%s", OUT(recv(ends[0], buffer, 1, 0)));
    outcome("send after it", "-1 EPIPE", "%s", OUT(send(ends[1], "q", 1, MSG_NOSIGNAL)));
    handled = 0;
    handle(SIGPIPE, count_signal, 0);
    outcome("send after it, with a handler", "-1 EPIPE 1", "%s",
            BOTH(OUT(send(ends[1], "q", 1, 0)), number(handled)));
    handle(SIGPIPE, SIG_IGN, 0);
    close(ends[0]);
    close(ends[1]);
}

/* A file handed to another end. */
static void files_in_messages(void)
{
    char byte = 'f', room[CMSG_SPACE(sizeof(int))] = "";
    struct iovec one = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &one, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int files[2], received = -1;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0 || pipe(files) != 0)
        return;
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &files[1], sizeof(int));
    outcome("sendmsg with a file", "1", "%s", OUT(sendmsg(ends[1], &message, 0)));
    outcome("recvmsg with a file", "1", "%s", OUT(recvmsg(ends[0], &message, MSG_CMSG_CLOEXEC)));
    memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
    outcome("write to it", "1 1 f", "%s",
            THREE(OUT(write(received, "f", 1)), OUT(read(files[0], &byte, 1)), byte == 'f' ? "f" : "?"));
    char small[2];
    outcome("datagram sent", "5", "%s", OUT(send(ends[1], "12345", 5, 0)));
    outcome("datagram cut", "5", "%s", OUT(recv(ends[0], small, sizeof small, MSG_TRUNC)));
    close(received);
    close(files[0]);
    close(files[1]);
    close(ends[0]);
    close(ends[1]);
}

static void *accept_tcp(void *argument)
{
    char byte = '?';
    int connection = accept(*(int *)argument, NULL, NULL);
    event(recv(connection, &byte, 1, 0) == 1 && send(connection, &byte, 1, 0) == 1 ? "echoed" : "failed");
    close(connection);
    return NULL;
}

static void loopback(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    outcome("tcp: bind", "0", "%s", OUT(bind(listener, (struct sockaddr *)&here, sizeof here)));
    getsockname(listener, (struct sockaddr *)&here, &length);
    outcome("tcp: connect before listen", "-1 ECONNREFUSED", "%s",
            OUT(connect(client, (struct sockaddr *)&here, length)));
    outcome("tcp: recv without a connection", "-1 ENOTCONN", "%s", OUT(recv(listener, &length, 1, 0)));
    listen(listener, 1);
    struct worker server;
    char byte = 0;
    start(&server, accept_tcp, &listener);
    close(client);
    client = socket(AF_INET, SOCK_STREAM, 0);
    outcome("tcp: connect", "0", "%s", OUT(connect(client, (struct sockaddr *)&here, length)));
    outcome("tcp: there", "1", "%s", OUT(send(client, "t", 1, 0)));
    outcome("tcp: and back", "1", "%s", OUT(recv(client, &byte, 1, 0)));
    finish(&server);
    outcome("tcp: the other end", "echoed", "%s", events());
    outcome("tcp: recv when it has gone", "0", "%s", OUT(recv(client, &byte, 1, 0)));
    close(client);
    client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    outcome("tcp: connect without blocking", "-1 EINPROGRESS", "%s",
            OUT(connect(client, (struct sockaddr *)&here, length)));
    close(client);
    close(listener);
    outcome("udp: sendto nobody", "1", "%s", ({
                client = socket(AF_INET, SOCK_DGRAM, 0);
                const char *text = OUT(sendto(client, "u", 1, 0, (struct sockaddr *)&here, sizeof here));
                close(client);
                text;
            }));
}

void sockets(void)
{
    handle(SIGPIPE, SIG_IGN, 0);
    make_address();
    connections();
    transfers();
    files_in_messages();
    loopback();
}
