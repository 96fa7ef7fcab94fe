// What browsers get, embedded into the program: the files of Sources/Service/Page/Assets, each by its name. A file that is
// not listed here is not served; `PageAssetTests` compares the list with the folder.

#pragma clang diagnostic ignored "-Wc23-extensions"

#include "page_assets.h"

#if __has_embed("../Service/Page/Assets/page.css")
static const unsigned char page_css[] = {
#embed "../Service/Page/Assets/page.css"
};
#endif
#if __has_embed("../Service/Page/Assets/main.js")
static const unsigned char main_js[] = {
#embed "../Service/Page/Assets/main.js"
};
#endif
#if __has_embed("../Service/Page/Assets/router.js")
static const unsigned char router_js[] = {
#embed "../Service/Page/Assets/router.js"
};
#endif
#if __has_embed("../Service/Page/Assets/kit.js")
static const unsigned char kit_js[] = {
#embed "../Service/Page/Assets/kit.js"
};
#endif
#if __has_embed("../Service/Page/Assets/api.js")
static const unsigned char api_js[] = {
#embed "../Service/Page/Assets/api.js"
};
#endif
#if __has_embed("../Service/Page/Assets/time.js")
static const unsigned char time_js[] = {
#embed "../Service/Page/Assets/time.js"
};
#endif
#if __has_embed("../Service/Page/Assets/strings.js")
static const unsigned char strings_js[] = {
#embed "../Service/Page/Assets/strings.js"
};
#endif
#if __has_embed("../Service/Page/Assets/map.js")
static const unsigned char map_js[] = {
#embed "../Service/Page/Assets/map.js"
};
#endif
#if __has_embed("../Service/Page/Assets/basemap.js")
static const unsigned char basemap_js[] = {
#embed "../Service/Page/Assets/basemap.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-day.js")
static const unsigned char view_day_js[] = {
#embed "../Service/Page/Assets/view-day.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-now.js")
static const unsigned char view_now_js[] = {
#embed "../Service/Page/Assets/view-now.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-welcome.js")
static const unsigned char view_welcome_js[] = {
#embed "../Service/Page/Assets/view-welcome.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-signin.js")
static const unsigned char view_signin_js[] = {
#embed "../Service/Page/Assets/view-signin.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-audit.js")
static const unsigned char view_audit_js[] = {
#embed "../Service/Page/Assets/view-audit.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-requests.js")
static const unsigned char view_requests_js[] = {
#embed "../Service/Page/Assets/view-requests.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-sharing.js")
static const unsigned char view_sharing_js[] = {
#embed "../Service/Page/Assets/view-sharing.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-regions.js")
static const unsigned char view_regions_js[] = {
#embed "../Service/Page/Assets/view-regions.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-places.js")
static const unsigned char view_places_js[] = {
#embed "../Service/Page/Assets/view-places.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-year.js")
static const unsigned char view_year_js[] = {
#embed "../Service/Page/Assets/view-year.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-devices.js")
static const unsigned char view_devices_js[] = {
#embed "../Service/Page/Assets/view-devices.js"
};
#endif
#if __has_embed("../Service/Page/Assets/view-operate.js")
static const unsigned char view_operate_js[] = {
#embed "../Service/Page/Assets/view-operate.js"
};
#endif
#if __has_embed("../Service/Page/Assets/offline.js")
static const unsigned char offline_js[] = {
#embed "../Service/Page/Assets/offline.js"
};
#endif
#if __has_embed("../Service/Page/Assets/strings.en.json")
static const unsigned char strings_en_json[] = {
#embed "../Service/Page/Assets/strings.en.json"
};
#endif
#if __has_embed("../Service/Page/Assets/strings.de.json")
static const unsigned char strings_de_json[] = {
#embed "../Service/Page/Assets/strings.de.json"
};
#endif
#if __has_embed("../Service/Page/Assets/plain.en.json")
static const unsigned char plain_en_json[] = {
#embed "../Service/Page/Assets/plain.en.json"
};
#endif
#if __has_embed("../Service/Page/Assets/plain.de.json")
static const unsigned char plain_de_json[] = {
#embed "../Service/Page/Assets/plain.de.json"
};
#endif
#if __has_embed("../Service/Page/Assets/icon.svg")
static const unsigned char icon_svg[] = {
#embed "../Service/Page/Assets/icon.svg"
};
#endif
#if __has_embed("../Service/Page/Assets/manifest.webmanifest")
static const unsigned char manifest_webmanifest[] = {
#embed "../Service/Page/Assets/manifest.webmanifest"
};
#endif

static const struct page_asset page_assets[] = {
#if __has_embed("../Service/Page/Assets/page.css")
    {"page.css", page_css, sizeof page_css},
#endif
#if __has_embed("../Service/Page/Assets/main.js")
    {"main.js", main_js, sizeof main_js},
#endif
#if __has_embed("../Service/Page/Assets/router.js")
    {"router.js", router_js, sizeof router_js},
#endif
#if __has_embed("../Service/Page/Assets/kit.js")
    {"kit.js", kit_js, sizeof kit_js},
#endif
#if __has_embed("../Service/Page/Assets/api.js")
    {"api.js", api_js, sizeof api_js},
#endif
#if __has_embed("../Service/Page/Assets/time.js")
    {"time.js", time_js, sizeof time_js},
#endif
#if __has_embed("../Service/Page/Assets/strings.js")
    {"strings.js", strings_js, sizeof strings_js},
#endif
#if __has_embed("../Service/Page/Assets/map.js")
    {"map.js", map_js, sizeof map_js},
#endif
#if __has_embed("../Service/Page/Assets/basemap.js")
    {"basemap.js", basemap_js, sizeof basemap_js},
#endif
#if __has_embed("../Service/Page/Assets/view-day.js")
    {"view-day.js", view_day_js, sizeof view_day_js},
#endif
#if __has_embed("../Service/Page/Assets/view-now.js")
    {"view-now.js", view_now_js, sizeof view_now_js},
#endif
#if __has_embed("../Service/Page/Assets/view-welcome.js")
    {"view-welcome.js", view_welcome_js, sizeof view_welcome_js},
#endif
#if __has_embed("../Service/Page/Assets/view-signin.js")
    {"view-signin.js", view_signin_js, sizeof view_signin_js},
#endif
#if __has_embed("../Service/Page/Assets/view-audit.js")
    {"view-audit.js", view_audit_js, sizeof view_audit_js},
#endif
#if __has_embed("../Service/Page/Assets/view-requests.js")
    {"view-requests.js", view_requests_js, sizeof view_requests_js},
#endif
#if __has_embed("../Service/Page/Assets/view-sharing.js")
    {"view-sharing.js", view_sharing_js, sizeof view_sharing_js},
#endif
#if __has_embed("../Service/Page/Assets/view-regions.js")
    {"view-regions.js", view_regions_js, sizeof view_regions_js},
#endif
#if __has_embed("../Service/Page/Assets/view-places.js")
    {"view-places.js", view_places_js, sizeof view_places_js},
#endif
#if __has_embed("../Service/Page/Assets/view-year.js")
    {"view-year.js", view_year_js, sizeof view_year_js},
#endif
#if __has_embed("../Service/Page/Assets/view-devices.js")
    {"view-devices.js", view_devices_js, sizeof view_devices_js},
#endif
#if __has_embed("../Service/Page/Assets/view-operate.js")
    {"view-operate.js", view_operate_js, sizeof view_operate_js},
#endif
#if __has_embed("../Service/Page/Assets/offline.js")
    {"offline.js", offline_js, sizeof offline_js},
#endif
#if __has_embed("../Service/Page/Assets/strings.en.json")
    {"strings.en.json", strings_en_json, sizeof strings_en_json},
#endif
#if __has_embed("../Service/Page/Assets/strings.de.json")
    {"strings.de.json", strings_de_json, sizeof strings_de_json},
#endif
#if __has_embed("../Service/Page/Assets/plain.en.json")
    {"plain.en.json", plain_en_json, sizeof plain_en_json},
#endif
#if __has_embed("../Service/Page/Assets/plain.de.json")
    {"plain.de.json", plain_de_json, sizeof plain_de_json},
#endif
#if __has_embed("../Service/Page/Assets/icon.svg")
    {"icon.svg", icon_svg, sizeof icon_svg},
#endif
#if __has_embed("../Service/Page/Assets/manifest.webmanifest")
    {"manifest.webmanifest", manifest_webmanifest, sizeof manifest_webmanifest},
#endif
};

size_t page_assets_count(void) { return sizeof page_assets / sizeof page_assets[0]; }

struct page_asset page_asset_at(size_t index) { return page_assets[index]; }
