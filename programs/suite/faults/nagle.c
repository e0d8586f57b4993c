/* Clients ask a server through TCP, with a thread of the server for each of them; a request has two parts. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../suite.h"

enum { VALUES = 64, QUESTIONS = 18 };

struct header {
    int question, count;
};

static struct sockaddr_in address;
static int listener;

static void read_all(int connection, void *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t more = read(connection, (char *)to + done, size - done);
        if (more <= 0)
            abort();
        done += more;
    }
}

static void write_all(int connection, const void *from, size_t size)
{
    if (write(connection, from, size) != (ssize_t)size)
        abort();
}

static NOINLINE double prepare(double value) { return refine(value, 4000000); }

static NOINLINE void ask(int connection, int question, double *values)
{
    struct header header = {question, VALUES};
    write_all(connection, &header, sizeof header);
    write_all(connection, values, VALUES * sizeof *values); /* FAULT: kept until the header is acknowledged */
    read_all(connection, values, sizeof *values);
}

static void *serve(void *unused)
{
    int connection = accept(listener, NULL, NULL);
    for (int i = 0; i < QUESTIONS; i++) {
        struct header header;
        double values[VALUES], sum = 0;
        read_all(connection, &header, sizeof header);
        read_all(connection, values, header.count * sizeof *values);
        for (int value = 0; value < header.count; value++)
            sum += values[value] + header.question;
        write_all(connection, &sum, sizeof sum);
    }
    close(connection);
    return unused;
}

static void *be_client(void *argument)
{
    double *sum = argument, values[VALUES] = {0};
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0)
        abort();
    for (int question = 0; question < QUESTIONS; question++) {
        values[question] = prepare(question);
        ask(connection, question, values);
        *sum += values[0];
    }
    close(connection);
    return NULL;
}

int main(void)
{
    int clients = processors();
    pthread_t *team = calloc(2 * clients, sizeof *team);
    double *sums = calloc(clients, sizeof *sums), sum = 0;
    socklen_t size = sizeof address;
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, clients) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        return 1;
    for (int i = 0; i < clients; i++) {
        pthread_create(&team[2 * i], NULL, serve, NULL);
        pthread_create(&team[2 * i + 1], NULL, be_client, &sums[i]);
    }
    for (int i = 0; i < 2 * clients; i++)
        pthread_join(team[i], NULL);
    for (int i = 0; i < clients; i++)
        sum += sums[i];
    printf("%.6f\n", sum);
    close(listener);
    free(team);
    free(sums);
    return 0;
}
