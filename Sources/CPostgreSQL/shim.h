#pragma once
#include <libpq-fe.h>

// Characters of macros, which Swift does not import.

/// An error's SQLSTATE: five characters; NULL where the server has not answered.
static inline const char *tombolo_pq_sqlstate(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

/// An error's first line, in the server's language.
static inline const char *tombolo_pq_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

/// "WARNING", "NOTICE" and so on, in no language; NULL where the server is older than 9.6.
static inline const char *tombolo_pq_severity(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
}
