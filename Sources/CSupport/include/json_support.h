// simdjson's document tree, flattened into one block that Swift reads by index.
#ifndef JSON_SUPPORT_H
#define JSON_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The type of a node.
enum json_kind {
    json_kind_null,
    json_kind_false,
    json_kind_true,
    /// A number written without fraction and exponent that fits a signed 64-bit integer.
    json_kind_integer,
    /// A number written without fraction and exponent between 2^63 and 2^64 - 1.
    json_kind_unsigned,
    json_kind_double,
    json_kind_string,
    json_kind_array,
    /// Its children alternate: key (a string), value, key, value …
    json_kind_object,
};

/// One value. Children follow their container; `next` is the index after the value and all it contains, which is
/// where its next sibling is. The value as written is the bytes from `begin` to before `end` of the parsed text.
struct json_node {
    uint32_t kind;
    uint32_t next;
    uint32_t begin;
    uint32_t end;
    union {
        int64_t integer;
        uint64_t unsigned_integer;
        double number;
        /// A string's bytes (UTF-8, no terminator) are `length` bytes from `offset` in `json_tree.text`.
        struct {
            uint32_t offset;
            uint32_t length;
        } string;
        /// Elements of an array, members of an object.
        uint32_t count;
    } value;
};

/// A parsed document. `nodes` is one allocation that holds the strings and the source too, released by
/// `json_tree_release`.
struct json_tree {
    const struct json_node *nodes;
    /// The strings with their escapes resolved.
    const uint8_t *text;
    /// A copy of the parsed bytes; NULL unless it was asked for.
    const uint8_t *source;
};

enum json_status {
    json_status_good,
    json_status_empty,
    json_status_too_deep,
    json_status_invalid_utf8,
    json_status_invalid_string,
    json_status_invalid_number,
    json_status_duplicate_key,
    json_status_too_large,
    json_status_malformed,
};

/// Objects and arrays one in another that are still read.
#define JSON_DEPTH_MAX 32

/// Parses `length` bytes completely; `*tree` is set only when the answer is `json_status_good`.
enum json_status json_parse(const uint8_t *bytes, size_t length, bool keeps_source, struct json_tree *tree);

void json_tree_release(struct json_tree tree);

#ifdef __cplusplus
}
#endif

#endif
