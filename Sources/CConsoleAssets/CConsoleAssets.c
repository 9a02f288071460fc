#include "CConsoleAssets.h"

// SwiftPM compiles C as C17, where clang takes #embed as an extension and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

// Each file of console/, in the order of their names; a test compares them with the folder.

static const unsigned char activities_js[] = {
#embed "console/activities.js"
};

static const unsigned char activity_js[] = {
#embed "console/activity.js"
};

static const unsigned char api_js[] = {
#embed "console/api.js"
};

static const unsigned char board_js[] = {
#embed "console/board.js"
};

static const unsigned char clips_js[] = {
#embed "console/clips.js"
};

static const unsigned char console_css[] = {
#embed "console/console.css"
};

static const unsigned char deliveries_js[] = {
#embed "console/deliveries.js"
};

static const unsigned char delivery_js[] = {
#embed "console/delivery.js"
};

static const unsigned char devices_js[] = {
#embed "console/devices.js"
};

static const unsigned char dom_js[] = {
#embed "console/dom.js"
};

static const unsigned char first_js[] = {
#embed "console/first.js"
};

static const unsigned char history_js[] = {
#embed "console/history.js"
};

static const unsigned char icon_svg[] = {
#embed "console/icon.svg"
};

static const unsigned char index_html[] = {
#embed "console/index.html"
};

static const unsigned char island_js[] = {
#embed "console/island.js"
};

static const unsigned char lane_js[] = {
#embed "console/lane.js"
};

static const unsigned char live_js[] = {
#embed "console/live.js"
};

static const unsigned char log_js[] = {
#embed "console/log.js"
};

static const unsigned char look_js[] = {
#embed "console/look.js"
};

static const unsigned char main_js[] = {
#embed "console/main.js"
};

static const unsigned char overview_js[] = {
#embed "console/overview.js"
};

static const unsigned char pacing_js[] = {
#embed "console/pacing.js"
};

static const unsigned char phone_css[] = {
#embed "console/phone.css"
};

static const unsigned char page_js[] = {
#embed "console/page.js"
};

static const unsigned char phones_js[] = {
#embed "console/phones.js"
};

static const unsigned char picture_js[] = {
#embed "console/picture.js"
};

static const unsigned char requests_js[] = {
#embed "console/requests.js"
};
static const unsigned char registry_js[] = {
#embed "console/registry.js"
};

static const unsigned char search_js[] = {
#embed "console/search.js"
};

static const unsigned char source_js[] = {
#embed "console/source.js"
};

static const unsigned char table_js[] = {
#embed "console/table.js"
};

static const unsigned char tail_js[] = {
#embed "console/tail.js"
};

static const unsigned char timelines_js[] = {
#embed "console/timelines.js"
};

static const unsigned char why_js[] = {
#embed "console/why.js"
};

static const unsigned char widget_js[] = {
#embed "console/widget.js"
};

static const unsigned char worker_js[] = {
#embed "console/worker.js"
};

static const struct tombolo_console_asset assets[] = {
    {"activities.js", activities_js, sizeof activities_js},
    {"activity.js", activity_js, sizeof activity_js},
    {"api.js", api_js, sizeof api_js},
    {"board.js", board_js, sizeof board_js},
    {"clips.js", clips_js, sizeof clips_js},
    {"console.css", console_css, sizeof console_css},
    {"deliveries.js", deliveries_js, sizeof deliveries_js},
    {"delivery.js", delivery_js, sizeof delivery_js},
    {"devices.js", devices_js, sizeof devices_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"first.js", first_js, sizeof first_js},
    {"history.js", history_js, sizeof history_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"index.html", index_html, sizeof index_html},
    {"island.js", island_js, sizeof island_js},
    {"lane.js", lane_js, sizeof lane_js},
    {"live.js", live_js, sizeof live_js},
    {"log.js", log_js, sizeof log_js},
    {"look.js", look_js, sizeof look_js},
    {"main.js", main_js, sizeof main_js},
    {"overview.js", overview_js, sizeof overview_js},
    {"pacing.js", pacing_js, sizeof pacing_js},
    {"phone.css", phone_css, sizeof phone_css},
    {"page.js", page_js, sizeof page_js},
    {"phones.js", phones_js, sizeof phones_js},
    {"picture.js", picture_js, sizeof picture_js},
    {"requests.js", requests_js, sizeof requests_js},
    {"registry.js", registry_js, sizeof registry_js},
    {"search.js", search_js, sizeof search_js},
    {"source.js", source_js, sizeof source_js},
    {"table.js", table_js, sizeof table_js},
    {"tail.js", tail_js, sizeof tail_js},
    {"timelines.js", timelines_js, sizeof timelines_js},
    {"why.js", why_js, sizeof why_js},
    {"widget.js", widget_js, sizeof widget_js},
    {"worker.js", worker_js, sizeof worker_js},
};

size_t tombolo_console_asset_count(void) { return sizeof assets / sizeof assets[0]; }

struct tombolo_console_asset tombolo_console_asset(size_t index) { return assets[index]; }
