/* Input: bytes as a program may print them. What is shown of them is valid text without control
 * characters, no longer than its share and than all characters of the input as \x85. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "server/tools/answer/output_budget.h"
#include "server/tools/plain_text.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { GAP_BYTES = sizeof "\n" OUTPUT_BUDGET_GAP };

static void check_plain(const char *text, size_t length)
{
    assert(utf8_is_valid(text, length) && text[length] == '\0');
    for (size_t i = 0; i < length; i++) {
        assert(!iscntrl((unsigned char)text[i]) || text[i] == '\n' || text[i] == '\t');
        assert(text[i] != '\xC2' || (unsigned char)text[i + 1] >= 0xA0);
    }
}

static void check_cut(enum output_part part, const char *text, size_t length, size_t share)
{
    size_t cut_length;
    AUTO_FREE char *cut = output_budget_cut(part, text, length, share, &cut_length);

    assert(!cut == (output_budget_count(text, length) <= share));
    if (!cut)
        return;
    check_plain(cut, cut_length);
    assert(output_budget_count(cut, cut_length) < share + GAP_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length;
    size_t clean_length;
    size_t collapsed_length;
    size_t shorter_length;
    AUTO_FREE char *text = utf8_repair((const char *)data, size, &length);
    size_t untold;
    AUTO_FREE char *clean = plain_text_clean(text, length, &clean_length, &untold);
    AUTO_FREE char *collapsed = plain_text_collapse(clean, clean_length, &collapsed_length);
    AUTO_FREE char *shorter =
        plain_text_shorten(collapsed, collapsed_length, "/d", &shorter_length);

    check_plain(clean, clean_length);
    check_plain(collapsed, collapsed_length);
    check_plain(shorter, shorter_length);
    assert(clean_length <= 4 * length && collapsed_length <= clean_length);
    assert(collapsed_length >= shorter_length);
    for (size_t share = 0; share < 32; share += 5) {
        check_cut(OUTPUT_OUT, shorter, shorter_length, share);
        check_cut(OUTPUT_ERR, shorter, shorter_length, share);
    }
    return 0;
}
