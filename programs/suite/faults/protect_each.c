/* Bookings are entered into ledgers, a thread for each; a ledger is protected from stray writes. */
#include <pthread.h>
#include <sys/mman.h>

#include "../suite.h"

enum { LEDGERS = 8, ENTRIES = 1 << 12, BOOKINGS = 7000 };

struct entry {
    long account, bookings;
    double balance, largest;
    char padding[32];
};

static struct entry *ledger[LEDGERS];
static int next_ledger;

static void make_ledger(int number)
{
    ledger[number] = mmap(NULL, ENTRIES * sizeof(struct entry), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ledger[number] == MAP_FAILED)
        exit(1);
    for (long account = 0; account < ENTRIES; account++)
        ledger[number][account].account = account;
    mprotect(ledger[number], ENTRIES * sizeof(struct entry), PROT_READ);
}

static void protect(struct entry *entries, int flags)
{
    if (mprotect(entries, ENTRIES * sizeof *entries, flags) != 0)
        exit(1);
}

static NOINLINE double amount_of(uint64_t booking)
{
    return refine((double)(booking % 10007), 1500);
}

static NOINLINE void book(struct entry *entries, uint64_t booking, double amount)
{
    struct entry *entry = &entries[booking % ENTRIES];
    protect(entries, PROT_READ | PROT_WRITE); /* FAULT: for each booking, and once more after it */
    entry->balance += amount;
    entry->largest = amount > entry->largest ? amount : entry->largest;
    entry->bookings++;
    protect(entries, PROT_READ);
}

static NOINLINE void book_all(int number)
{
    uint64_t booking = 88172645463325252 + (uint64_t)number;
    for (int i = 0; i < BOOKINGS; i++) {
        next_random(&booking);
        book(ledger[number], booking, amount_of(booking));
    }
}

static void *work(void *unused)
{
    for (int number; (number = __atomic_fetch_add(&next_ledger, 1, __ATOMIC_RELAXED)) < LEDGERS;)
        book_all(number);
    return unused;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    pthread_t team[LEDGERS];
    double total = 0;
    threads = threads < LEDGERS ? threads : LEDGERS;
    for (int number = 0; number < LEDGERS; number++)
        make_ledger(number);
    for (int i = 0; i < threads; i++)
        pthread_create(&team[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(team[i], NULL);
    for (int number = 0; number < LEDGERS; number++)
        for (int account = 0; account < ENTRIES; account++)
            total += ledger[number][account].balance;
    printf("%.3f\n", total);
    return 0;
}
