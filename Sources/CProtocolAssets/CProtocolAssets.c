#include "CProtocolAssets.h"

// SwiftPM compiles C as C17, where clang takes #embed as an extension and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

// #embed looks beside this file, like #include; the compiler's dependency file names what it
// embeds, so that a change of it builds this file again.
static const unsigned char openapi[] = {
#embed "../../Protocol/openapi.json"
};

struct tombolo_protocol_asset tombolo_protocol_openapi(void) {
    return (struct tombolo_protocol_asset){openapi, sizeof openapi};
}

static const unsigned char pages[] = {
#embed "../../Protocol/pages.json"
};

struct tombolo_protocol_asset tombolo_protocol_pages(void) {
    return (struct tombolo_protocol_asset){pages, sizeof pages};
}

// All schemas as one JSON array.
static const unsigned char schemas[] = {
    '[',
#embed "../../Protocol/schemas/action.json" suffix(, ',',)
#embed "../../Protocol/schemas/action-answer.json" suffix(, ',',)
#embed "../../Protocol/schemas/activity.json" suffix(, ',',)
#embed "../../Protocol/schemas/activity-deliveries.json" suffix(, ',',)
#embed "../../Protocol/schemas/activity-page.json" suffix(, ',',)
#embed "../../Protocol/schemas/alert.json" suffix(, ',',)
#embed "../../Protocol/schemas/attempt.json" suffix(, ',',)
#embed "../../Protocol/schemas/audience.json" suffix(, ',',)
#embed "../../Protocol/schemas/batch-result.json" suffix(, ',',)
#embed "../../Protocol/schemas/budgets.json" suffix(, ',',)
#embed "../../Protocol/schemas/channel.json" suffix(, ',',)
#embed "../../Protocol/schemas/channel-page.json" suffix(, ',',)
#embed "../../Protocol/schemas/channel-request.json" suffix(, ',',)
#embed "../../Protocol/schemas/clip.json" suffix(, ',',)
#embed "../../Protocol/schemas/cloud-event.json" suffix(, ',',)
#embed "../../Protocol/schemas/command-answer.json" suffix(, ',',)
#embed "../../Protocol/schemas/configuration-reload.json" suffix(, ',',)
#embed "../../Protocol/schemas/dead-letter-page.json" suffix(, ',',)
#embed "../../Protocol/schemas/decided.json" suffix(, ',',)
#embed "../../Protocol/schemas/decision.json" suffix(, ',',)
#embed "../../Protocol/schemas/deleted-channel.json" suffix(, ',',)
#embed "../../Protocol/schemas/deleted-key.json" suffix(, ',',)
#embed "../../Protocol/schemas/delivery.json" suffix(, ',',)
#embed "../../Protocol/schemas/delivery-page.json" suffix(, ',',)
#embed "../../Protocol/schemas/device.json" suffix(, ',',)
#embed "../../Protocol/schemas/device-check.json" suffix(, ',',)
#embed "../../Protocol/schemas/device-page.json" suffix(, ',',)
#embed "../../Protocol/schemas/device-view.json" suffix(, ',',)
#embed "../../Protocol/schemas/dry-run.json" suffix(, ',',)
#embed "../../Protocol/schemas/end.json" suffix(, ',',)
#embed "../../Protocol/schemas/end-many.json" suffix(, ',',)
#embed "../../Protocol/schemas/end-many-answer.json" suffix(, ',',)
#embed "../../Protocol/schemas/erased.json" suffix(, ',',)
#embed "../../Protocol/schemas/event-line.json" suffix(, ',',)
#embed "../../Protocol/schemas/explain-request.json" suffix(, ',',)
#embed "../../Protocol/schemas/explanation.json" suffix(, ',',)
#embed "../../Protocol/schemas/explanations.json" suffix(, ',',)
#embed "../../Protocol/schemas/family-cut.json" suffix(, ',',)
#embed "../../Protocol/schemas/grant.json" suffix(, ',',)
#embed "../../Protocol/schemas/key.json" suffix(, ',',)
#embed "../../Protocol/schemas/key-list.json" suffix(, ',',)
#embed "../../Protocol/schemas/key-request.json" suffix(, ',',)
#embed "../../Protocol/schemas/key-rotation.json" suffix(, ',',)
#embed "../../Protocol/schemas/ledger.json" suffix(, ',',)
#embed "../../Protocol/schemas/lint.json" suffix(, ',',)
#embed "../../Protocol/schemas/log-entry.json" suffix(, ',',)
#embed "../../Protocol/schemas/log-page.json" suffix(, ',',)
#embed "../../Protocol/schemas/minted-key.json" suffix(, ',',)
#embed "../../Protocol/schemas/overview.json" suffix(, ',',)
#embed "../../Protocol/schemas/pause.json" suffix(, ',',)
#embed "../../Protocol/schemas/pause-list.json" suffix(, ',',)
#embed "../../Protocol/schemas/pause-request.json" suffix(, ',',)
#embed "../../Protocol/schemas/phone.json" suffix(, ',',)
#embed "../../Protocol/schemas/phone-action.json" suffix(, ',',)
#embed "../../Protocol/schemas/phone-page.json" suffix(, ',',)
#embed "../../Protocol/schemas/phone-report.json" suffix(, ',',)
#embed "../../Protocol/schemas/plan.json" suffix(, ',',)
#embed "../../Protocol/schemas/presence.json" suffix(, ',',)
#embed "../../Protocol/schemas/problem.json" suffix(, ',',)
#embed "../../Protocol/schemas/reload.json" suffix(, ',',)
#embed "../../Protocol/schemas/timeline.json" suffix(, ',',)
#embed "../../Protocol/schemas/timeline-view.json" suffix(, ',',)
#embed "../../Protocol/schemas/timeline-page.json" suffix(, ',',)
#embed "../../Protocol/schemas/timeline-answer.json" suffix(, ',',)
#embed "../../Protocol/schemas/timeline-entries.json" suffix(, ',',)
#embed "../../Protocol/schemas/timeline-choices.json" suffix(, ',',)
#embed "../../Protocol/schemas/deleted-timeline.json" suffix(, ',',)
#embed "../../Protocol/schemas/readiness.json" suffix(, ',',)
#embed "../../Protocol/schemas/reload-answer.json" suffix(, ',',)
#embed "../../Protocol/schemas/request-list.json" suffix(, ',',)
#embed "../../Protocol/schemas/retry.json" suffix(, ',',)
#embed "../../Protocol/schemas/retry-answer.json" suffix(, ',',)
#embed "../../Protocol/schemas/scenario.json" suffix(, ',',)
#embed "../../Protocol/schemas/scenario-request.json" suffix(, ',',)
#embed "../../Protocol/schemas/search-answer.json" suffix(, ',',)
#embed "../../Protocol/schemas/start.json" suffix(, ',',)
#embed "../../Protocol/schemas/stored.json" suffix(, ',',)
#embed "../../Protocol/schemas/token.json" suffix(, ',',)
#embed "../../Protocol/schemas/token-set.json" suffix(, ',',)
#embed "../../Protocol/schemas/type.json" suffix(, ',',)
#embed "../../Protocol/schemas/type-answer.json" suffix(, ',',)
#embed "../../Protocol/schemas/type-page.json" suffix(, ',',)
#embed "../../Protocol/schemas/type-view.json" suffix(, ',',)
#embed "../../Protocol/schemas/update.json" suffix(, ',',)
#embed "../../Protocol/schemas/upstream-retry.json" suffix(, ',',)
#embed "../../Protocol/schemas/version.json" suffix(, ',',)
#embed "../../Protocol/schemas/widget-explanation.json" suffix(, ']')
};

struct tombolo_protocol_asset tombolo_protocol_schemas(void) {
    return (struct tombolo_protocol_asset){schemas, sizeof schemas};
}

static const unsigned char profile[] = {
#embed "../../Protocol/examples/profile/steps.json"
};

struct tombolo_protocol_asset tombolo_protocol_profile(void) {
    return (struct tombolo_protocol_asset){profile, sizeof profile};
}

static const unsigned char door[] = {
#embed "../../Protocol/examples/door/steps.json"
};

struct tombolo_protocol_asset tombolo_protocol_door(void) {
    return (struct tombolo_protocol_asset){door, sizeof door};
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
