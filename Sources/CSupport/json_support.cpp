#include "json_support.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

namespace {

using namespace simdjson;

/// A workspace that has grown for an input beyond this many bytes is let go after use, so that one large text does not
/// hold its memory (up to twenty times the input) for the life of the thread.
constexpr size_t retained_input_max = 1 << 20;

/// Objects with at most this many members are searched for duplicate keys pair by pair, larger ones by sorting.
constexpr size_t pairwise_members_max = 32;

/// The state one thread keeps from one document to the next: simdjson's buffers (its padded copy of the input among
/// them) and ours.
struct workspace {
    dom::parser parser;
    std::vector<json_node> nodes;
    std::vector<std::string_view> keys;
    const uint8_t *text = nullptr;
    size_t text_length = 0;
    /// The parsed bytes, and where simdjson found brackets, colons, commas and the beginnings of other values: the next
    /// one to pass.
    const uint8_t *source = nullptr;
    const uint32_t *place = nullptr;

    json_status parse(const uint8_t *bytes, size_t length, bool keeps_source, json_tree *tree);
    json_status flatten(dom::element element, int depth);
    json_status flatten_array(dom::array array, int depth);
    json_status flatten_object(dom::object object, int depth);
    void append_scalar(json_node node);
    void append_string(std::string_view string);
    bool has_duplicate(size_t first_key);
};

json_status status_of(error_code error) {
    switch (error) {
    case EMPTY: return json_status_empty;
    case DEPTH_ERROR: return json_status_too_deep;
    case UTF8_ERROR: return json_status_invalid_utf8;
    case STRING_ERROR:
    case UNCLOSED_STRING:
    case UNESCAPED_CHARS: return json_status_invalid_string;
    case NUMBER_ERROR:
    case NUMBER_OUT_OF_RANGE: return json_status_invalid_number;
    case CAPACITY: return json_status_too_large;
    case MEMALLOC: throw std::bad_alloc();
    default: return json_status_malformed;
    }
}

/// Whether a string holds half of a surrogate pair, which JSON can escape (`\udc00`) but UTF-8 cannot hold. The input
/// was valid UTF-8, so such bytes (ED A0 80 to ED BF BF) come from an escape.
bool holds_surrogate(std::string_view string) {
    const char *at = string.data(), *end = at + string.size();
    while ((at = static_cast<const char *>(memchr(at, 0xED, size_t(end - at)))) != nullptr) {
        if (end - at > 1 && static_cast<uint8_t>(at[1]) >= 0xA0) return true;
        at += 1;
    }
    return false;
}

/// Appends a value that has no children. It ends before the white space in front of the next place.
void workspace::append_scalar(json_node node) {
    node.next = uint32_t(nodes.size() + 1);
    node.begin = *place++;
    node.end = *place;
    while (source[node.end - 1] <= 0x20) node.end -= 1;
    nodes.push_back(node);
}

void workspace::append_string(std::string_view string) {
    json_node node{};
    node.kind = json_kind_string;
    node.value.string.offset = uint32_t(reinterpret_cast<const uint8_t *>(string.data()) - text);
    node.value.string.length = uint32_t(string.size());
    text_length = std::max(text_length, size_t(node.value.string.offset) + string.size());
    append_scalar(node);
}

bool workspace::has_duplicate(size_t first_key) {
    auto first = keys.begin() + ptrdiff_t(first_key), last = keys.end();
    if (size_t(last - first) <= pairwise_members_max) {
        for (auto key = first; key != last; ++key)
            for (auto earlier = first; earlier != key; ++earlier)
                if (earlier->size() == key->size() && (key->empty() || earlier->front() == key->front())
                    && *earlier == *key)
                    return true;
        return false;
    }
    std::sort(first, last, [](std::string_view a, std::string_view b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    return std::adjacent_find(first, last) != last;
}

json_status workspace::flatten_array(dom::array array, int depth) {
    size_t index = nodes.size();
    uint32_t count = 0;
    nodes.push_back(json_node{json_kind_array, 0, *place++, 0, {}});
    for (dom::element element : array) {
        if (count > 0) place += 1;
        if (auto status = flatten(element, depth)) return status;
        count += 1;
    }
    nodes[index].end = *place++ + 1;
    nodes[index].next = uint32_t(nodes.size());
    nodes[index].value.count = count;
    return json_status_good;
}

json_status workspace::flatten_object(dom::object object, int depth) {
    size_t index = nodes.size(), first_key = keys.size();
    uint32_t count = 0;
    nodes.push_back(json_node{json_kind_object, 0, *place++, 0, {}});
    for (dom::key_value_pair member : object) {
        if (count > 0) place += 1;
        if (holds_surrogate(member.key)) return json_status_invalid_string;
        keys.push_back(member.key);
        append_string(member.key);
        place += 1;
        if (auto status = flatten(member.value, depth)) return status;
        count += 1;
    }
    if (has_duplicate(first_key)) return json_status_duplicate_key;
    keys.resize(first_key);
    nodes[index].end = *place++ + 1;
    nodes[index].next = uint32_t(nodes.size());
    nodes[index].value.count = count;
    return json_status_good;
}

json_status workspace::flatten(dom::element element, int depth) {
    json_node node{};
    switch (element.type()) {
    case dom::element_type::ARRAY:
        return depth < JSON_DEPTH_MAX ? flatten_array(element, depth + 1) : json_status_too_deep;
    case dom::element_type::OBJECT:
        return depth < JSON_DEPTH_MAX ? flatten_object(element, depth + 1) : json_status_too_deep;
    case dom::element_type::STRING: {
        std::string_view string = element;
        if (holds_surrogate(string)) return json_status_invalid_string;
        append_string(string);
        return json_status_good;
    }
    case dom::element_type::INT64:
        node.kind = json_kind_integer;
        node.value.integer = element;
        break;
    case dom::element_type::UINT64:
        node.kind = json_kind_unsigned;
        node.value.unsigned_integer = element;
        break;
    case dom::element_type::DOUBLE:
        node.kind = json_kind_double;
        node.value.number = element;
        break;
    case dom::element_type::BOOL:
        node.kind = bool(element) ? json_kind_true : json_kind_false;
        break;
    case dom::element_type::NULL_VALUE:
        node.kind = json_kind_null;
        break;
    }
    append_scalar(node);
    return json_status_good;
}

json_status workspace::parse(const uint8_t *bytes, size_t length, bool keeps_source, json_tree *tree) {
    // simdjson's own bound is only there to end early; the exact one is kept while flattening.
    if (parser.max_depth() != JSON_DEPTH_MAX + 1)
        if (auto error = parser.allocate(length, JSON_DEPTH_MAX + 1)) return status_of(error);
    dom::element root;
    if (auto error = parser.parse(bytes, length).get(root)) return status_of(error);
    nodes.clear();
    keys.clear();
    text = parser.doc.string_buf.get();
    text_length = 0;
    source = bytes;
    place = parser.implementation->structural_indexes.get();
    if (auto status = flatten(root, 0)) return status;

    size_t nodes_length = nodes.size() * sizeof(json_node);
    auto block = static_cast<uint8_t *>(malloc(nodes_length + text_length + (keeps_source ? length : 0)));
    if (block == nullptr) throw std::bad_alloc();
    memcpy(block, nodes.data(), nodes_length);
    if (text_length > 0) memcpy(block + nodes_length, text, text_length);
    tree->nodes = reinterpret_cast<const json_node *>(block);
    tree->text = block + nodes_length;
    tree->source = nullptr;
    if (keeps_source) {
        memcpy(block + nodes_length + text_length, bytes, length);
        tree->source = block + nodes_length + text_length;
    }
    return json_status_good;
}

} // namespace

extern "C" json_status json_parse(const uint8_t *bytes, size_t length, bool keeps_source, json_tree *tree) {
    if (length == 0) return json_status_empty;
    // Offsets are 32 bits, and simdjson adds up to five bytes for each string.
    if (length > UINT32_MAX / 8) return json_status_too_large;
    thread_local std::unique_ptr<workspace> space;
    try {
        if (!space) space = std::make_unique<workspace>();
        json_status status = space->parse(bytes, length, keeps_source, tree);
        if (space->parser.capacity() > retained_input_max) space.reset();
        return status;
    } catch (const std::bad_alloc &) {
        space.reset();
        return json_status_too_large;
    }
}

extern "C" void json_tree_release(json_tree tree) {
    free(const_cast<json_node *>(tree.nodes));
}
