/* Input: what the helper that decodes pictures has written. What is believed of it lies within the
 * input and within the limits. */
#undef NDEBUG
#include "environments/pictures/picture_reading.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct picture_answer answer;

    if (!picture_answer_read(&answer, (const char *)data, size))
        return 0;
    assert(answer.verdict <= PICTURE_SHOWN);
    if (answer.verdict == PICTURE_SHOWN) {
        assert(sizeof answer + answer.length == size && answer.length <= PICTURE_BYTES);
        assert(answer.width <= PICTURE_SIDE_PIXELS && answer.height <= PICTURE_SIDE_PIXELS);
        assert(strncmp(picture_format_mime_type(answer.format), "image/", 6) == 0);
    }
    return 0;
}
