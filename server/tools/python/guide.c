#include "server/tools/python/guide.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "environments/catalog/catalog.h"
#include "server/tools/python/environment_text.h"
#include "server/tools/python/python_offer.h"
#include "server/tools/python/run_python.h"

/* Whether the next call comes to the same directory by itself depends on the client, so the result
 * says it where the name is needed. */
static const char rule_of_output[] =
    "- Only what is printed comes back: print() what you want to see.\n";

static const char rule_of_programs[] =
    "- Variables and imports do not stay: send the whole program each time.";

static const char rule_of_sessions[] =
    "- Variables and imports stay in a `session` only: else send the whole program each time.";

static const char rules[] =
    " Files stay: if a "
    "result names a `working_directory`, pass it to find them again.\n"
    "- There is no input() and no screen: save figures to files.\n"
    "- What the program starts ends with it. At its timeout it is stopped; what it printed until "
    "then comes back.\n"
    "- After a failure, read the traceback, mend the program and call again.\n";

static const char packages_of_callers[] =
    "Packages are those of the environment. For others pass `environment_definition`, such as "
    "{\"type\": \"venv\", \"pip_packages\": [\"numpy\"]}, or begin the program with a PEP 723 "
    "block (`# /// script`).\n";

static const char packages_of_the_operator[] =
    "Packages are those of the environment; calls cannot ask for others. Install none from a "
    "program: others may use the environment, too.\n";

static const char use[] =
    "`" RUN_PYTHON_NAME "` runs Python programs and returns what they print and the files they "
    "make. Use it to compute, to work with data and files and to try code, instead of guessing.\n";

static const char *guide_packages(const struct python_offer *offer)
{
    return offer->rules ? packages_of_callers : packages_of_the_operator;
}

void guide_append_rules(struct buffer *text, const struct python_offer *offer)
{
    buffer_print(text, "%s%s%s- %s", rule_of_output,
                 offer->sessions ? rule_of_sessions : rule_of_programs, rules,
                 guide_packages(offer));
}

static const struct environment *guide_usual_environment(const struct python_offer *offer)
{
    return catalog_find(offer->catalog, offer->default_environment);
}

void guide_append_limits(struct buffer *text, const struct python_offer *offer)
{
    AUTO_FREE char *limits = environment_text_limits(guide_usual_environment(offer));

    buffer_print(text, "- Limits: %s.\n", limits);
}

void guide_append_environments(struct buffer *text, const struct python_offer *offer)
{
    const struct environment *environment;
    size_t position = 0;

    while ((environment = python_offer_next(offer, &position))) {
        AUTO_FREE char *line = environment_text(environment, guide_usual_environment(offer));

        buffer_print(text, "- %s\n", line);
    }
}

char *guide_instructions(const struct python_offer *offer)
{
    struct buffer text;
    char *ret;

    buffer_init(&text, GUIDE_BYTES);
    buffer_print(&text, "%sEnvironments (default: %s):\n", use, offer->default_environment);
    guide_append_environments(&text, offer);
    buffer_print(&text, "%s", guide_packages(offer));
    ret = memory_format("%.*s", (int)buffer_length(&text) - 1, buffer_bytes(&text));
    buffer_deinit(&text);
    return ret;
}
