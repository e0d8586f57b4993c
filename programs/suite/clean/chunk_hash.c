/* Threads take pieces of a file, read each with one call and hash it; the hashes are joined at the end. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"

enum { PIECE = 256 << 10, PASSES = 80 };

static int file;
static long pieces;
static uint64_t *hashes;
static atomic_long next_piece;

static NOINLINE uint64_t hash_of(const unsigned char *bytes, long count, uint64_t hash)
{
    for (long i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static void *work(void *unused)
{
    unsigned char *bytes = malloc(PIECE);
    /* The file is gone through often enough for a run of a second; each visit of a piece is a job. */
    for (long job; (job = atomic_fetch_add(&next_piece, 1)) < pieces * PASSES;) {
        long piece = job % pieces, count = pread(file, bytes, PIECE, piece * PIECE);
        hashes[job] = hash_of(bytes, count, 0xcbf29ce484222325u + job / pieces);
    }
    free(bytes);
    return unused;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t *team = calloc(threads, sizeof *team);
    struct stat facts;
    file = open(argc > 2 ? argv[2] : argv[0], O_RDONLY);
    if (file < 0 || fstat(file, &facts) != 0)
        return 1;
    pieces = (facts.st_size + PIECE - 1) / PIECE;
    hashes = calloc(pieces * PASSES, sizeof *hashes);
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    uint64_t all = 0;
    for (long job = 0; job < pieces * PASSES; job++)
        all = all * 31 + hashes[job];
    printf("%016lx\n", (unsigned long)all);
    close(file);
    free(team);
    free(hashes);
    return 0;
}
