#pragma once

/// Listens on `port` of 127.0.0.1 and holds every TLS connection for ever; does not return.
int hold_tls(int port, const char *certificate, const char *key);
