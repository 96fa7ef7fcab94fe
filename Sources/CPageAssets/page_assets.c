// The files for browsers, embedded into the program: the files of Sources/WebPage/Assets, each by its name. A file
// that is not listed here is not served; `PageAssetTests` compares the list with the folder.

#pragma clang diagnostic ignored "-Wc23-extensions"

#include "page_assets.h"

static const unsigned char api_js[] = {
#embed "../WebPage/Assets/api.js"
};
// icon.svg on 180 pixels without its round corners, which iOS cuts itself: it takes no SVG.
static const unsigned char apple_touch_icon_png[] = {
#embed "../WebPage/Assets/apple-touch-icon.png"
};
static const unsigned char basemap_js[] = {
#embed "../WebPage/Assets/basemap.js"
};
static const unsigned char corrections_js[] = {
#embed "../WebPage/Assets/corrections.js"
};
static const unsigned char day_bar_js[] = {
#embed "../WebPage/Assets/day-bar.js"
};
static const unsigned char day_map_js[] = {
#embed "../WebPage/Assets/day-map.js"
};
static const unsigned char fixes_js[] = {
#embed "../WebPage/Assets/fixes.js"
};
static const unsigned char icon_svg[] = {
#embed "../WebPage/Assets/icon.svg"
};
static const unsigned char kit_js[] = {
#embed "../WebPage/Assets/kit.js"
};
static const unsigned char ledger_words_js[] = {
#embed "../WebPage/Assets/ledger-words.js"
};
static const unsigned char ledger_js[] = {
#embed "../WebPage/Assets/ledger.js"
};
static const unsigned char main_js[] = {
#embed "../WebPage/Assets/main.js"
};
static const unsigned char manifest_webmanifest[] = {
#embed "../WebPage/Assets/manifest.webmanifest"
};
static const unsigned char map_js[] = {
#embed "../WebPage/Assets/map.js"
};
static const unsigned char notices_js[] = {
#embed "../WebPage/Assets/notices.js"
};
static const unsigned char offline_js[] = {
#embed "../WebPage/Assets/offline.js"
};
static const unsigned char online_tiles_js[] = {
#embed "../WebPage/Assets/online-tiles.js"
};
static const unsigned char page_css[] = {
#embed "../WebPage/Assets/page.css"
};
static const unsigned char plain_de_json[] = {
#embed "../WebPage/Assets/plain.de.json"
};
static const unsigned char plain_en_json[] = {
#embed "../WebPage/Assets/plain.en.json"
};
static const unsigned char proof_js[] = {
#embed "../WebPage/Assets/proof.js"
};
static const unsigned char qr_js[] = {
#embed "../WebPage/Assets/qr.js"
};
static const unsigned char router_js[] = {
#embed "../WebPage/Assets/router.js"
};
static const unsigned char sealed_js[] = {
#embed "../WebPage/Assets/sealed.js"
};
static const unsigned char setup_js[] = {
#embed "../WebPage/Assets/setup.js"
};
static const unsigned char strings_de_json[] = {
#embed "../WebPage/Assets/strings.de.json"
};
static const unsigned char strings_en_json[] = {
#embed "../WebPage/Assets/strings.en.json"
};
static const unsigned char strings_js[] = {
#embed "../WebPage/Assets/strings.js"
};
static const unsigned char time_js[] = {
#embed "../WebPage/Assets/time.js"
};
static const unsigned char view_audit_js[] = {
#embed "../WebPage/Assets/view-audit.js"
};
static const unsigned char view_day_js[] = {
#embed "../WebPage/Assets/view-day.js"
};
static const unsigned char view_devices_js[] = {
#embed "../WebPage/Assets/view-devices.js"
};
static const unsigned char view_link_js[] = {
#embed "../WebPage/Assets/view-link.js"
};
static const unsigned char view_now_js[] = {
#embed "../WebPage/Assets/view-now.js"
};
static const unsigned char view_operate_js[] = {
#embed "../WebPage/Assets/view-operate.js"
};
static const unsigned char view_parts_js[] = {
#embed "../WebPage/Assets/view-parts.js"
};
static const unsigned char view_places_js[] = {
#embed "../WebPage/Assets/view-places.js"
};
static const unsigned char view_regions_js[] = {
#embed "../WebPage/Assets/view-regions.js"
};
static const unsigned char view_requests_js[] = {
#embed "../WebPage/Assets/view-requests.js"
};
static const unsigned char view_sharing_js[] = {
#embed "../WebPage/Assets/view-sharing.js"
};
static const unsigned char view_signin_js[] = {
#embed "../WebPage/Assets/view-signin.js"
};
static const unsigned char view_welcome_js[] = {
#embed "../WebPage/Assets/view-welcome.js"
};
static const unsigned char view_year_js[] = {
#embed "../WebPage/Assets/view-year.js"
};

static const struct page_asset page_assets[] = {
    {"api.js", api_js, sizeof api_js},
    {"apple-touch-icon.png", apple_touch_icon_png, sizeof apple_touch_icon_png},
    {"basemap.js", basemap_js, sizeof basemap_js},
    {"corrections.js", corrections_js, sizeof corrections_js},
    {"day-bar.js", day_bar_js, sizeof day_bar_js},
    {"day-map.js", day_map_js, sizeof day_map_js},
    {"fixes.js", fixes_js, sizeof fixes_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"kit.js", kit_js, sizeof kit_js},
    {"ledger-words.js", ledger_words_js, sizeof ledger_words_js},
    {"ledger.js", ledger_js, sizeof ledger_js},
    {"main.js", main_js, sizeof main_js},
    {"manifest.webmanifest", manifest_webmanifest, sizeof manifest_webmanifest},
    {"map.js", map_js, sizeof map_js},
    {"notices.js", notices_js, sizeof notices_js},
    {"offline.js", offline_js, sizeof offline_js},
    {"online-tiles.js", online_tiles_js, sizeof online_tiles_js},
    {"page.css", page_css, sizeof page_css},
    {"plain.de.json", plain_de_json, sizeof plain_de_json},
    {"plain.en.json", plain_en_json, sizeof plain_en_json},
    {"proof.js", proof_js, sizeof proof_js},
    {"qr.js", qr_js, sizeof qr_js},
    {"router.js", router_js, sizeof router_js},
    {"sealed.js", sealed_js, sizeof sealed_js},
    {"setup.js", setup_js, sizeof setup_js},
    {"strings.de.json", strings_de_json, sizeof strings_de_json},
    {"strings.en.json", strings_en_json, sizeof strings_en_json},
    {"strings.js", strings_js, sizeof strings_js},
    {"time.js", time_js, sizeof time_js},
    {"view-audit.js", view_audit_js, sizeof view_audit_js},
    {"view-day.js", view_day_js, sizeof view_day_js},
    {"view-devices.js", view_devices_js, sizeof view_devices_js},
    {"view-link.js", view_link_js, sizeof view_link_js},
    {"view-now.js", view_now_js, sizeof view_now_js},
    {"view-operate.js", view_operate_js, sizeof view_operate_js},
    {"view-parts.js", view_parts_js, sizeof view_parts_js},
    {"view-places.js", view_places_js, sizeof view_places_js},
    {"view-regions.js", view_regions_js, sizeof view_regions_js},
    {"view-requests.js", view_requests_js, sizeof view_requests_js},
    {"view-sharing.js", view_sharing_js, sizeof view_sharing_js},
    {"view-signin.js", view_signin_js, sizeof view_signin_js},
    {"view-welcome.js", view_welcome_js, sizeof view_welcome_js},
    {"view-year.js", view_year_js, sizeof view_year_js},
};

size_t page_assets_count(void) { return sizeof page_assets / sizeof page_assets[0]; }

struct page_asset page_asset_at(size_t index) { return page_assets[index]; }
