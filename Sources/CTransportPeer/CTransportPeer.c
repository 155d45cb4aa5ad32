#include "CTransportPeer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zmq.h>

enum { messages_of_a_turn = 256 };

struct workers {
    const struct ctransport_load *load;
    void *context;
    char endpoint[256];
    int result;
};

static int64_t nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// Answers each job of one socket; 1 once the server has said good bye with an empty frame.
static int answer(void *dealer, zmq_msg_t *done) {
    zmq_msg_t job;
    zmq_msg_init(&job);
    for (int count = 0; count < messages_of_a_turn; count += 1) {
        if (zmq_msg_recv(&job, dealer, ZMQ_DONTWAIT) < 0) return errno == EAGAIN ? 0 : -errno;
        if (zmq_msg_size(&job) == 0) return 1;
        zmq_msg_t copy;
        zmq_msg_init(&copy);
        zmq_msg_copy(&copy, done);
        if (zmq_msg_send(&copy, dealer, ZMQ_DONTWAIT) < 0) return -errno;
    }
    zmq_msg_close(&job);
    return 0;
}

static void *work(void *argument) {
    struct workers *workers = argument;
    int count = workers->load->workers;
    zmq_pollitem_t *items = calloc((size_t)count, sizeof(*items));
    if (!items) abort();
    zmq_msg_t done;
    zmq_msg_init_size(&done, workers->load->done_bytes);
    memset(zmq_msg_data(&done), 1, workers->load->done_bytes);
    for (int index = 0; index < count; index += 1) {
        void *dealer = zmq_socket(workers->context, ZMQ_DEALER);
        if (!dealer || zmq_connect(dealer, workers->endpoint) != 0) workers->result = -errno;
        zmq_send(dealer, "R", 1, 0);
        items[index] = (zmq_pollitem_t){.socket = dealer, .events = ZMQ_POLLIN};
    }
    int left = count;
    while (left > 0 && workers->result == 0) {
        if (zmq_poll(items, count, -1) < 0) workers->result = -errno;
        for (int index = 0; index < count; index += 1) {
            if (!(items[index].revents & ZMQ_POLLIN)) continue;
            int result = answer(items[index].socket, &done);
            if (result < 0) workers->result = result;
            if (result == 1) left -= 1;
        }
    }
    for (int index = 0; index < count; index += 1) zmq_close(items[index].socket);
    zmq_msg_close(&done);
    free(items);
    return NULL;
}

/// Sends a frame to a peer and leaves both messages as they were.
static int send_to(void *router, zmq_msg_t *peer, zmq_msg_t *frame) {
    zmq_msg_t copy;
    zmq_msg_init(&copy);
    zmq_msg_copy(&copy, peer);
    if (zmq_msg_send(&copy, router, ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0) return -errno;
    zmq_msg_init(&copy);
    zmq_msg_copy(&copy, frame);
    return zmq_msg_send(&copy, router, ZMQ_DONTWAIT) < 0 ? -errno : 0;
}

static int64_t serve(void *router, const struct ctransport_load *load) {
    zmq_msg_t job, bye, peer, frame;
    zmq_msg_init_size(&job, load->job_bytes);
    memset(zmq_msg_data(&job), 2, load->job_bytes);
    zmq_msg_init(&bye);
    zmq_msg_init(&peer);
    zmq_msg_init(&frame);
    zmq_msg_t *peers = calloc((size_t)load->workers, sizeof(*peers));
    if (!peers) abort();
    int ready = 0;
    int64_t given = 0, done = 0, begin = 0, end = 0;
    zmq_pollitem_t item = {.socket = router, .events = ZMQ_POLLIN};
    while (done < load->jobs) {
        if (zmq_poll(&item, 1, -1) < 0) return -errno;
        for (int count = 0; count < messages_of_a_turn; count += 1) {
            if (zmq_msg_recv(&peer, router, ZMQ_DONTWAIT) < 0) {
                if (errno == EAGAIN) break;
                return -errno;
            }
            if (zmq_msg_recv(&frame, router, ZMQ_DONTWAIT) < 0) return -errno;
            if (zmq_msg_size(&frame) == 1) {
                zmq_msg_init(&peers[ready]);
                zmq_msg_copy(&peers[ready], &peer);
                ready += 1;
                if (ready < load->workers) continue;
                begin = nanoseconds();
                for (int turn = 0; turn < load->window; turn += 1)
                    for (int index = 0; index < ready && given < load->jobs; index += 1) {
                        int result = send_to(router, &peers[index], &job);
                        if (result < 0) return result;
                        given += 1;
                    }
                continue;
            }
            done += 1;
            if (given == load->jobs) continue;
            int result = send_to(router, &peer, &job);
            if (result < 0) return result;
            given += 1;
        }
    }
    end = nanoseconds();
    for (int index = 0; index < ready; index += 1) {
        int result = send_to(router, &peers[index], &bye);
        if (result < 0) return result;
        zmq_msg_close(&peers[index]);
    }
    free(peers);
    zmq_msg_close(&job);
    zmq_msg_close(&peer);
    zmq_msg_close(&frame);
    return end - begin;
}

int64_t ctransport_run(const struct ctransport_load *load) {
    void *context = zmq_ctx_new();
    if (!context) return -errno;
    zmq_ctx_set(context, ZMQ_IO_THREADS, load->io_threads);
    zmq_ctx_set(context, ZMQ_MAX_SOCKETS, load->workers + 16);
    void *router = zmq_socket(context, ZMQ_ROUTER);
    int mandatory = 1;
    struct workers workers = {.load = load, .context = context};
    size_t size = sizeof(workers.endpoint);
    if (!router || zmq_setsockopt(router, ZMQ_ROUTER_MANDATORY, &mandatory, sizeof(int)) != 0
        || zmq_bind(router, "tcp://127.0.0.1:*") != 0
        || zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, workers.endpoint, &size) != 0)
        return -errno;
    pthread_t thread;
    int started = pthread_create(&thread, NULL, work, &workers);
    if (started != 0) return -started;
    int64_t result = serve(router, load);
    if (result >= 0) {
        pthread_join(thread, NULL);
        zmq_close(router);
        zmq_ctx_term(context);
        if (workers.result < 0) result = workers.result;
    }
    return result;
}
