/* The charges of a molecule relax: each atom's is drawn towards what its neighbours in a list allow. */
#include <omp.h>

#include "../suite.h"

enum { ATOMS = 400000, PASSES = 30 };

struct atom {
    struct atom *next;
    double charge, hardness;
};

static struct atom *make_molecule(void)
{
    uint64_t state = 88172645463325252;
    struct atom *atoms = malloc(sizeof *atoms * ATOMS);
    for (int i = 0; i < ATOMS; i++) {
        uint64_t random = next_random(&state);
        atoms[i].next = i + 1 < ATOMS ? &atoms[i + 1] : NULL;
        atoms[i].charge = (double)(random % 2000) / 1000 - 1;
        atoms[i].hardness = 0.5 + (double)(random >> 32 & 1023) / 2048;
    }
    return atoms;
}

static NOINLINE void relax(struct atom *atom)
{
    double charge = atom->charge;
    for (int i = 0; i < 3; i++)
        charge -= (charge - tanh(charge * atom->hardness)) * 0.3;
    atom->charge = charge;
}

static NOINLINE void relax_all(struct atom *first, int threads)
{
#pragma omp parallel num_threads(threads)
    for (struct atom *atom = first; atom; atom = atom->next) {
#pragma omp single nowait /* FAULT: all threads settle for each atom whose it is */
        relax(atom);
    }
}

static double sum(const struct atom *atom)
{
    double total = 0;
    for (; atom; atom = atom->next)
        total += fabs(atom->charge);
    return total;
}

int main(int argc, char **argv)
{
    int threads = threads_asked(argc, argv);
    struct atom *atoms = make_molecule();
    for (int pass = 0; pass < PASSES; pass++)
        relax_all(atoms, threads);
    printf("%.6f\n", sum(atoms));
    free(atoms);
    return 0;
}
