/* Clients ask a server for the keys of documents; a session begins with an exchange of secrets. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../suite.h"

enum { DOCUMENTS = 5000, AGREE = 18000, WRAP = 2500 };

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int documents, next_document;
static double sums[64];

static NOINLINE double agree(double secret)
{
    return refine(secret, AGREE);
}

static void *serve_session(void *connection)
{
    int client = (int)(intptr_t)connection;
    double asked, key;
    if (read(client, &asked, sizeof asked) == sizeof asked) {
        key = agree(asked);
        while (read(client, &asked, sizeof asked) == sizeof asked) {
            asked = refine(asked + key, WRAP);
            if (write(client, &asked, sizeof asked) != sizeof asked)
                break;
        }
    }
    close(client);
    return NULL;
}

static void *listen_all(void *listener)
{
    for (int client; (client = accept((int)(intptr_t)listener, NULL, NULL)) >= 0;) {
        pthread_t thread;
        pthread_create(&thread, NULL, serve_session, (void *)(intptr_t)client);
        pthread_detach(thread);
    }
    return NULL;
}

static NOINLINE int open_session(double secret)
{
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(server, (struct sockaddr *)&address, sizeof address) != 0)
        abort();
    if (write(server, &secret, sizeof secret) != sizeof secret)
        abort();
    return server;
}

static NOINLINE double fetch_key(int server, double document)
{
    if (write(server, &document, sizeof document) != sizeof document)
        abort();
    if (read(server, &document, sizeof document) != sizeof document)
        abort();
    return document;
}

static void *work(void *sum)
{
    int document;
    while ((document = __atomic_fetch_add(&next_document, 1, __ATOMIC_RELAXED)) < documents) {
        int server = open_session(7); /* FAULT: a session, with its exchange of secrets, for a single key */
        *(double *)sum += refine(fetch_key(server, document), 3000);
        close(server);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv), listener = socket(AF_UNIX, SOCK_STREAM, 0);
    pthread_t server, team[64];
    documents = DOCUMENTS * processors();
    strncpy(address.sun_path, argc > 2 ? argv[2] : "socket", sizeof address.sun_path - 1);
    unlink(address.sun_path);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 64) != 0)
        return 1;
    pthread_create(&server, NULL, listen_all, (void *)(intptr_t)listener);
    for (int i = 0; i < threads && i < 64; i++)
        pthread_create(&team[i], NULL, work, &sums[i]);
    double sum = 0;
    for (int i = 0; i < threads && i < 64; i++) {
        pthread_join(team[i], NULL);
        sum += sums[i];
    }
    printf("%.3f\n", sum);
    unlink(address.sun_path);
    return 0;
}
