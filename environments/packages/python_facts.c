#include "environments/packages/python_facts.h"

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "environments/packages/requirement.h"

#include <stdlib.h>
#include <string.h>

enum {
    VERSION_LENGTH = 20, /* "3.14.0rc2+local" */
    NAME_LENGTH = 80,
    TOLD_LENGTH = 30, /* a longer name may be a sentence */
    PACKAGES_MOST = 2000,
};

/* In the order in which a model should hear of them. */
static const char *const python_facts_main[] = {
    "numpy",       "pandas",        "scipy",
    "matplotlib",  "scikit-learn",  "requests",
    "seaborn",     "sympy",         "pillow",
    "openpyxl",    "torch",         "tensorflow",
    "polars",      "statsmodels",   "beautifulsoup4",
    "httpx",       "plotly",        "networkx",
    "lxml",        "pyarrow",       "duckdb",
    "sqlalchemy",  "pydantic",      "transformers",
    "xgboost",     "lightgbm",      "scikit-image",
    "aiohttp",     "flask",         "fastapi",
    "django",      "pyyaml",        "xlsxwriter",
    "python-docx", "pypdf",         "reportlab",
    "geopandas",   "nltk",          "spacy",
    "numba",       "opencv-python", "opencv-python-headless",
    "pytest",
};

/* How packages are installed is no use to a script. */
static const char *const python_facts_tools[] = {"pip", "setuptools", "wheel"};

struct python_package {
    char *name;  /* owned */
    size_t rank; /* smaller ranks come first */
};

enum {
    RANK_OTHER = ARRAY_SIZE(python_facts_main), /* no installed package needs it */
    RANK_NEEDED,                                /* another package needs it */
};

static size_t python_facts_rank(const char *name, bool is_needed)
{
    for (size_t i = 0; i < ARRAY_SIZE(python_facts_main); i++)
        if (strcmp(name, python_facts_main[i]) == 0)
            return i;
    for (size_t i = 0; i < ARRAY_SIZE(python_facts_tools); i++)
        if (strcmp(name, python_facts_tools[i]) == 0)
            return RANK_NEEDED;
    return is_needed || strlen(name) > TOLD_LENGTH ? RANK_NEEDED : RANK_OTHER;
}

/* True if TEXT is a name and nothing behind it, as package indexes accept it. */
static bool python_facts_is_name(const char *text, const char *normalized)
{
    static const char inside[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strlen(normalized);

    return length > 0 && strlen(text) <= NAME_LENGTH && !text[strspn(text, inside)] &&
           normalized[0] != '-' && normalized[length - 1] != '-';
}

static bool python_facts_is_version(const char *text)
{
    return text && ascii_is_digit(*text) && strlen(text) <= VERSION_LENGTH &&
           !text[strspn(text, "0123456789.abcr+")];
}

static int python_package_compare(const void *a, const void *b)
{
    const struct python_package *one = a;
    const struct python_package *other = b;

    if (one->rank != other->rank)
        return one->rank < other->rank ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* The PACKAGES (names, and whether another package needs them) with valid names, in order. Owned by
 * the caller, as are the names. */
static struct python_package *python_facts_sort(const json_t *packages, size_t *ret_count)
{
    struct python_package *sorted =
        memory_new(json_object_size(packages) + 1, sizeof(struct python_package));
    const char *text;
    json_t *is_needed;
    size_t count = 0;

    json_object_foreach ((json_t *)packages, text, is_needed) {
        AUTO_FREE char *name = requirement_name(text);

        if (count == PACKAGES_MOST || !python_facts_is_name(text, name))
            continue;
        sorted[count].rank = python_facts_rank(name, json_is_true(is_needed));
        sorted[count++].name = STEAL_PTR(name);
    }
    qsort(sorted, count, sizeof *sorted, python_package_compare);
    *ret_count = count;
    return sorted;
}

static void python_facts_fill(struct python_facts *facts, const json_t *packages)
{
    size_t count;
    AUTO_FREE struct python_package *sorted = python_facts_sort(packages, &count);

    facts->packages = memory_new(count + 1, sizeof *facts->packages);
    for (facts->count = 0; facts->count < count; facts->count++) {
        facts->packages[facts->count] = sorted[facts->count].name;
        if (sorted[facts->count].rank <= RANK_OTHER)
            facts->told++;
    }
}

struct python_facts *python_facts_read(const json_t *answer)
{
    const char *version = json_object_get_string(answer, "version");
    const json_t *packages = json_object_get(answer, "packages");
    struct python_facts *facts;

    if (!python_facts_is_version(version) || !json_is_object(packages))
        return NULL;
    facts = NEW(struct python_facts);
    facts->version = memory_copy_string(version);
    python_facts_fill(facts, packages);
    return facts;
}

void python_facts_free(struct python_facts *facts)
{
    if (!facts)
        return;
    for (size_t i = 0; i < facts->count; i++)
        free(facts->packages[i]);
    free(facts->packages);
    free(facts->version);
    free(facts);
}

bool python_facts_have(const struct python_facts *facts, const char *package)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->packages[i], package) == 0)
            return true;
    return false;
}
