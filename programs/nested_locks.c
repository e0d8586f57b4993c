/*
 * Mutexes that are held in unusual ways while another thread waits: a recursive one that its holder locks
 * and unlocks again and again inside, and one that its holder got by a try.
 * nested_locks [SECONDS of each]
 *
 * Prints for each thread tid, name, wall_s, cpu_s; `held` says how long the holder held what the other one
 * waited for.
 */
#include "waited.h"

#include <semaphore.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, tried = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, taken;
static int rounds;

/* What it locks is locked already: this is no section of its own. */
KEPT static void inner_section(void)
{
    pthread_mutex_lock(&recursive);
    burn_cpu(0.002);
    pthread_mutex_unlock(&recursive);
}

KEPT static void hold_recursive(void)
{
    pthread_mutex_lock(&recursive);
    double began = wall();
    sem_post(&held);
    for (int i = 0; i < 5; i++)
        inner_section();
    add(mine->held, "hold", "recursive", LOCK, wall() - began);
    pthread_mutex_unlock(&recursive);
}

KEPT static void unlock_tried(void)
{
    pthread_mutex_unlock(&tried);
    __asm__ volatile("" ::: "memory");
}

KEPT static void hold_tried(void)
{
    if (pthread_mutex_trylock(&tried) != 0)
        exit(2);
    double began = wall();
    sem_post(&held);
    burn_cpu(0.010);
    add(mine->held, "hold", "tried", LOCK, wall() - began);
    unlock_tried();
}

static void holder(void)
{
    for (int i = 0; i < rounds; i++) {
        hold_recursive();
        sem_wait(&taken);
        hold_tried();
        sem_wait(&taken);
    }
}

static void waiter(void)
{
    for (int i = 0; i < rounds; i++) {
        sem_wait(&held);
        WAIT("mutex", "recursive", LOCK, pthread_mutex_lock(&recursive));
        pthread_mutex_unlock(&recursive);
        sem_post(&taken);
        sem_wait(&held);
        WAIT("mutex", "tried", LOCK, pthread_mutex_lock(&tried));
        pthread_mutex_unlock(&tried);
        sem_post(&taken);
    }
}

int main(int argc, char **argv)
{
    begin_program("nested_locks");
    rounds = (int)(seconds_argument(argc, argv, 1, 0.5) / 0.010);
    sem_init(&held, 0, 0);
    sem_init(&taken, 0, 0);
    struct role roles[2];
    start(&roles[0], "holder", holder);
    start(&roles[1], "waiter", waiter);
    join(&roles[0]);
    join(&roles[1]);
    end();
    printf("{\"program\":\"nested_locks\",");
    print_threads();
    printf(",\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", process_cpu(), mine->wall_s);
    return 0;
}
