#pragma once
#include <stddef.h>

// Files of Protocol/ that the relay serves, compiled into the program by #embed (C23, 6.10.4): no
// resource bundle has to lie beside it, and no second copy of a file can grow old.

struct tombolo_protocol_asset {
    const unsigned char *bytes;
    size_t count;
};

/// Protocol/openapi.json, which refers to the schemas' files. The bytes live as long as the program.
struct tombolo_protocol_asset tombolo_protocol_openapi(void);

/// Protocol/pages.json: the texts of the pages about problems, lints and suspects.
struct tombolo_protocol_asset tombolo_protocol_pages(void);

/// The files of Protocol/schemas/ as one JSON array.
struct tombolo_protocol_asset tombolo_protocol_schemas(void);

/// Protocol/examples/radial/steps.json and its like: a scenario, step by step.
struct tombolo_protocol_asset tombolo_protocol_profile(void);
struct tombolo_protocol_asset tombolo_protocol_door(void);
struct tombolo_protocol_asset tombolo_protocol_radial(void);
struct tombolo_protocol_asset tombolo_protocol_runner(void);
struct tombolo_protocol_asset tombolo_protocol_window(void);
