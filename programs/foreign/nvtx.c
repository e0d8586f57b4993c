/*
 * Ranges of NVTX, by NVIDIA's own header.
 * foreign-nvtx SECONDS
 *
 * `step` three times, `inner` in each, in a domain of its own; a range that is started and ended; one with a
 * registered message; one in wide characters; a pop too many; a thread with a name.
 */
#include "said.h"
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static double seconds;
static nvtxDomainHandle_t domain;

static nvtxEventAttributes_t ascii(const char *message)
{
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = message;
    return attributes;
}

KEPT static void steps(void)
{
    double all = 0, inners = 0;
    for (int n = 0; n < 3; n++) {
        double begin = wall();
        nvtxRangePushA("step");
        burn_cpu(seconds / 12);
        double inner_begin = wall();
        nvtxEventAttributes_t inner = ascii("inner");
        nvtxDomainRangePushEx(domain, &inner);
        burn_cpu(seconds / 12);
        nvtxDomainRangePop(domain);
        inners += wall() - inner_begin;
        nvtxRangePop();
        all += wall() - begin;
    }
    say("step", 3, all);
    say("solver: inner", 3, inners);
}

KEPT static void started(void)
{
    double begin = wall();
    nvtxRangeId_t range = nvtxRangeStartA("started");
    burn_cpu(seconds / 6);
    double other_begin = wall();
    nvtxStringHandle_t message = nvtxDomainRegisterStringA(domain, "registered");
    nvtxEventAttributes_t registered = ascii(NULL);
    registered.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    registered.message.registered = message;
    nvtxRangeId_t other = nvtxDomainRangeStartEx(domain, &registered);
    burn_cpu(seconds / 6);
    nvtxDomainRangeEnd(domain, other);
    say("solver: registered", 1, wall() - other_begin);
    nvtxRangeEnd(range);
    say("started", 1, wall() - begin);
}

static void *worker(void *unused)
{
    nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "solver thread");
    double begin = wall();
    nvtxRangePushW(L"größer");
    burn_cpu(seconds / 6);
    nvtxRangePop();
    say("größer", 1, wall() - begin);
    return unused;
}

int main(int argc, char **argv)
{
    seconds = argc > 1 ? atof(argv[1]) : 0.6;
    domain = nvtxDomainCreateA("solver");
    nvtxMarkA("no interval");
    steps();
    started();
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    nvtxRangePop();             /* one too many */
    nvtxDomainRangePop(domain); /* one too many */
    said(0);
    return 0;
}
