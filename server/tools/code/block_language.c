#include "server/tools/code/block_language.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <strings.h>

static const struct block_language block_languages[] = {
    {"python", "py", "python"},   {"bash", "bash", "bash"}, {"sh", "sh", "sh"},
    {"javascript", "js", "node"}, {"html", "html", NULL},   {"css", "css", NULL},
};

static const struct {
    const char *word;
    const char *name;
} block_language_aliases[] = {
    {"py", "python"},
    {"python3", "python"},
    {"shell", "sh"},
    {"js", "javascript"},
};

const struct block_language *block_language_find(const char *word)
{
    for (size_t i = 0; i < ARRAY_SIZE(block_language_aliases); i++)
        if (strcasecmp(word, block_language_aliases[i].word) == 0)
            word = block_language_aliases[i].name;
    for (size_t i = 0; i < ARRAY_SIZE(block_languages); i++)
        if (strcasecmp(word, block_languages[i].name) == 0)
            return &block_languages[i];
    return NULL;
}

const struct block_language *block_language_infer(const char *code)
{
    static const char *const commands[] = {"python ", "python3 ", "pip "};

    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        if (text_starts_with(code, commands[i]))
            return block_language_find("sh");
    return block_language_find("python");
}

char *block_language_list(void)
{
    char *ret = memory_copy_string(block_languages[0].name);

    for (size_t i = 1; i < ARRAY_SIZE(block_languages); i++) {
        char *longer = memory_format("%s, %s", ret, block_languages[i].name);

        free(ret);
        ret = longer;
    }
    return ret;
}
