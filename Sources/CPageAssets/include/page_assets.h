#pragma once

#include <stddef.h>

/// A file of the web page, embedded into the program.
struct page_asset {
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t count;
};

/// The number of files.
size_t page_assets_count(void);

/// One of the files, from 0 on.
struct page_asset page_asset_at(size_t index);
