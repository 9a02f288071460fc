#include "CProtocolAssets.h"

// SwiftPM compiles C as C17, where clang takes #embed as an extension and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

// #embed looks beside this file, like #include; the compiler's dependency file names what it
// embeds, so that a change of it builds this file anew.
static const unsigned char openapi[] = {
#embed "../../Protocol/openapi.json"
};

struct tombolo_protocol_asset tombolo_protocol_openapi(void) {
    return (struct tombolo_protocol_asset){openapi, sizeof openapi};
}

static const unsigned char radial[] = {
#embed "../../Protocol/examples/radial/steps.json"
};

struct tombolo_protocol_asset tombolo_protocol_radial(void) {
    return (struct tombolo_protocol_asset){radial, sizeof radial};
}

static const unsigned char runner[] = {
#embed "../../Protocol/examples/runner/steps.json"
};

struct tombolo_protocol_asset tombolo_protocol_runner(void) {
    return (struct tombolo_protocol_asset){runner, sizeof runner};
}

static const unsigned char window[] = {
#embed "../../Protocol/examples/window/steps.json"
};

struct tombolo_protocol_asset tombolo_protocol_window(void) {
    return (struct tombolo_protocol_asset){window, sizeof window};
}
