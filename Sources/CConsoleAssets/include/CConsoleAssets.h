#pragma once
#include <stddef.h>

// The files of the console, compiled into the program by #embed (C23, 6.10.4): see CProtocolAssets.

struct tombolo_console_asset {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// How many files there are.
size_t tombolo_console_asset_count(void);

/// The file at an index below the count. Its name and bytes live as long as the program.
struct tombolo_console_asset tombolo_console_asset(size_t index);
