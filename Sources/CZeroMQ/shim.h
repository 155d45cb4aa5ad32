/// libzmq, and what Swift needs beside it.
///
/// Every function below that can fail returns a value of zero or more, or the negated errno;
/// calls that a signal interrupts are repeated.
#ifndef CZEROMQ_SHIM_H
#define CZEROMQ_SHIM_H

#include <errno.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <zmq.h>

#define CZEROMQ_REPEATED(call) \
    for (;;) { \
        int result = (call); \
        if (result >= 0) return result; \
        if (zmq_errno() != EINTR) return -zmq_errno(); \
    }

static inline int czeromq_errno(void) { return zmq_errno(); }

static inline int czeromq_bind(void *_Nonnull socket, const char *_Nonnull endpoint) {
    CZEROMQ_REPEATED(zmq_bind(socket, endpoint))
}

static inline int czeromq_connect(void *_Nonnull socket, const char *_Nonnull endpoint) {
    CZEROMQ_REPEATED(zmq_connect(socket, endpoint))
}

static inline int czeromq_unbind(void *_Nonnull socket, const char *_Nonnull endpoint) {
    CZEROMQ_REPEATED(zmq_unbind(socket, endpoint))
}

static inline int czeromq_disconnect(void *_Nonnull socket, const char *_Nonnull endpoint) {
    CZEROMQ_REPEATED(zmq_disconnect(socket, endpoint))
}

static inline int czeromq_set(
    void *_Nonnull socket, int option, const void *_Nullable value, size_t size) {
    CZEROMQ_REPEATED(zmq_setsockopt(socket, option, value, size))
}

static inline int czeromq_get(
    void *_Nonnull socket, int option, void *_Nonnull value, size_t *_Nonnull size) {
    CZEROMQ_REPEATED(zmq_getsockopt(socket, option, value, size))
}

static inline int czeromq_monitor(
    void *_Nonnull socket, const char *_Nullable endpoint, int events) {
    CZEROMQ_REPEATED(zmq_socket_monitor(socket, endpoint, events))
}

static inline int czeromq_terminate(void *_Nonnull context) {
    CZEROMQ_REPEATED(zmq_ctx_term(context))
}

/// How many items are ready; 0 where a signal came, for the time left is the caller's to know.
static inline int czeromq_poll(zmq_pollitem_t *_Nonnull items, int count, long milliseconds) {
    int result = zmq_poll(items, count, milliseconds);
    if (result >= 0) return result;
    return zmq_errno() == EINTR ? 0 : -zmq_errno();
}

/// Receives one frame without waiting; the message must be initialised.
static inline int czeromq_receive(zmq_msg_t *_Nonnull message, void *_Nonnull socket) {
    CZEROMQ_REPEATED(zmq_msg_recv(message, socket, ZMQ_DONTWAIT))
}

/// Sends the bytes of a frame without waiting and leaves the frame as it was: large contents are
/// counted by reference, small ones lie in the message itself.
static inline int czeromq_send(
    zmq_msg_t *_Nonnull message, void *_Nonnull socket, int hasMore) {
    zmq_msg_t copy;
    zmq_msg_init(&copy);
    if (zmq_msg_copy(&copy, message) != 0) return -zmq_errno();
    int flags = ZMQ_DONTWAIT | (hasMore ? ZMQ_SNDMORE : 0);
    for (;;) {
        int result = zmq_msg_send(&copy, socket, flags);
        if (result >= 0) return result;
        int number = zmq_errno();
        if (number == EINTR) continue;
        zmq_msg_close(&copy);
        return -number;
    }
}

/// Writes "127.0.0.1:5555" for the peer of a connection; text of no bytes where there is none.
static inline void czeromq_peer_address(int descriptor, char *_Nonnull text, size_t size) {
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    char host[NI_MAXHOST], port[NI_MAXSERV];
    text[0] = 0;
    if (getpeername(descriptor, (struct sockaddr *)&address, &length) != 0) return;
    if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return;
    if (getnameinfo(
            (struct sockaddr *)&address, length, host, sizeof(host), port, sizeof(port),
            NI_NUMERICHOST | NI_NUMERICSERV)
        != 0)
        return;
    snprintf(text, size, address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

#endif
