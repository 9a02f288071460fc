// A server that does nothing but hold what OpenSSL needs for a connection: one after the other is taken,
// shaken hands with, asked and answered, and then kept open. With the options of `TLSContext`.
#include "tls.h"
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void require(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "Yardsticks: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static SSL_CTX *make_context(const char *certificate, const char *key) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    require(context != NULL, "no context");
    require(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1, "no TLS 1.2");
    SSL_CTX_set_options(
        context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                     SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    require(SSL_CTX_use_certificate_chain_file(context, certificate) == 1, "no certificate");
    require(SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1, "no key");
    return context;
}

int hold_tls(int port, const char *certificate, const char *key) {
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    // Who only looks whether somebody listens is gone when the handshake answers.
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX *context = make_context(certificate, key);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(bind(listener, (struct sockaddr *)&address, sizeof address) == 0, "the port is taken");
    require(listen(listener, 4096) == 0, "no listening");
    for (;;) {
        int descriptor = accept(listener, NULL, NULL);
        require(descriptor >= 0, "no connection");
        // Else each answer waits 40 ms for an acknowledgement of the tickets before it.
        int on = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        char request[4096];
        SSL *session = SSL_new(context);
        SSL_set_fd(session, descriptor);
        if (SSL_accept(session) == 1 && SSL_read(session, request, sizeof request) > 0 &&
            SSL_write(session, answer, sizeof answer - 1) > 0)
            continue;
        ERR_clear_error();
        SSL_free(session);
        close(descriptor);
    }
}
