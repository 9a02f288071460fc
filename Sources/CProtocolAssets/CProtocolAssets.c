#include "CProtocolAssets.h"

// #embed looks beside this file, like #include; the compiler's dependency file names what it embeds, so that a
// change of it builds this file anew.
static const unsigned char openapi[] = {
#embed "../../Protocol/openapi.json"
};

struct tombolo_protocol_asset tombolo_protocol_openapi(void) {
    return (struct tombolo_protocol_asset){openapi, sizeof openapi};
}
