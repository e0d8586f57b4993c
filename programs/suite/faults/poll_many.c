/* A server keeps a session with each of many clients, which ask seldom, and answers from a table. */
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../suite.h"

enum { SESSIONS = 1500, REQUESTS = 16000, WORDS = 4096, STEPS = 400 };

static int server_ends[SESSIONS], client_ends[SESSIONS];
static uint64_t table[WORDS];
static int clients;

static void open_sessions(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < SESSIONS; i++) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
            perror("socketpair");
            exit(1);
        }
        server_ends[i] = ends[0];
        client_ends[i] = ends[1];
    }
}

static void make_table(void)
{
    uint64_t state = 88172645463325252;
    for (int i = 0; i < WORDS; i++)
        table[i] = next_random(&state);
}

static NOINLINE uint64_t look_up(uint64_t key)
{
    for (int i = 0; i < STEPS; i++)
        key = table[key % WORDS] ^ key >> 7;
    return key & 0xffffff;
}

static void answer(int session)
{
    uint64_t request;
    if (read(session, &request, sizeof request) == (ssize_t)sizeof request) {
        request = look_up(request);
        if (write(session, &request, sizeof request) < 0)
            perror("write");
    }
}

static NOINLINE void serve(void)
{
    static struct pollfd all[SESSIONS];
    for (int i = 0; i < SESSIONS; i++)
        all[i] = (struct pollfd){.fd = server_ends[i], .events = POLLIN};
    for (int served = 0; served < REQUESTS;) {
        int ready = poll(all, SESSIONS, -1); /* FAULT: all sessions are looked at for the one that asks */
        for (int i = 0; i < SESSIONS && ready > 0; i++)
            if (all[i].revents) {
                answer(all[i].fd);
                served++;
                ready--;
            }
    }
}

static void *be_client(void *argument)
{
    int own = *(int *)argument;
    uint64_t state = 88172645463325252 + (uint64_t)own * 7919, sum = 0;
    for (int number = own; number < REQUESTS; number += clients) {
        uint64_t word = (uint64_t)number * 2654435761u;
        int session = own + (int)(next_random(&state) % (uint64_t)(SESSIONS / clients)) * clients;
        if (session >= SESSIONS)
            session = own;
        if (write(client_ends[session], &word, sizeof word) < 0 ||
            read(client_ends[session], &word, sizeof word) != (ssize_t)sizeof word)
            perror("session");
        sum += word;
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv)
{
    clients = threads_asked(argc, argv);
    pthread_t *threads = malloc(sizeof *threads * (size_t)clients);
    int *numbers = malloc(sizeof *numbers * (size_t)clients);
    uint64_t total = 0;
    make_table();
    open_sessions();
    for (int i = 0; i < clients; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, be_client, &numbers[i]);
    }
    serve();
    for (int i = 0; i < clients; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        total += (uintptr_t)sum;
    }
    printf("%lu\n", (unsigned long)total);
    free(numbers);
    free(threads);
    return 0;
}
