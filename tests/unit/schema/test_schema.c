#include "base/schema/schema.h"

#include "base/json.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Tables are written with ' for ". */
static json_t *parse(const char *text)
{
    AUTO_FREE char *json = memory_copy_string(text);
    json_t *value;

    for (char *c = json; *c; c++)
        if (*c == '\'')
            *c = '"';
    value = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (!value)
        fail_msg("not JSON: %s", json);
    return value;
}

static struct schema *compile(const char *text, struct error *err)
{
    AUTO_JSON json_t *document = parse(text);

    return schema_new(document, err);
}

/* One line per problem: the pointer, "!" when the key is wrong, the message. */
static void collect(void *data, enum schema_problem_place place, const char *pointer,
                    const char *message)
{
    char **lines = data;
    char *longer = memory_format("%s%s%s%s %s", *lines, **lines ? "\n" : "", pointer,
                                 place == SCHEMA_AT_KEY ? "!" : "", message);

    free(*lines);
    *lines = longer;
}

/* Problems of INSTANCE under SCHEMA; the caller frees them. */
static char *problems_of(const char *schema_text, const char *instance_text)
{
    struct error err = ERROR_INIT;
    struct schema *schema = compile(schema_text, &err);
    AUTO_JSON json_t *instance = parse(instance_text);
    char *lines = memory_copy_string("");
    bool fits;

    if (!schema)
        fail_msg("%s: %s", schema_text, err.message);
    fits = schema_validate(schema, instance, collect, &lines);
    assert_int_equal(fits, *lines == '\0');
    assert_int_equal(fits, schema_validate(schema, instance, NULL, NULL));
    schema_free(schema);
    for (char *c = lines; *c; c++)
        if (*c == '"')
            *c = '\'';
    return lines;
}

static void test_messages_say_what_must_be_and_what_is(void **state)
{
    static const struct {
        const char *schema;
        const char *instance;
        const char *problems;
    } cases[] = {
        {"{'type':'number'}", "'10s'", " must be number, not string"},
        {"{'type':['string','null']}", "1", " must be string or null, not integer"},
        {"{'type':['array','string','null']}", "1.5", " must be array, string or null, not number"},
        {"{'type':'integer'}", "1.5", " must be integer, not 1.5"},
        {"{'maximum':600}", "900", " must be at most 600, not 900"},
        {"{'minimum':0.1}", "0", " must be at least 0.1, not 0"},
        {"{'exclusiveMinimum':0}", "0", " must be more than 0, not 0"},
        {"{'exclusiveMaximum':1}", "1.0", " must be less than 1, not 1.0"},
        {"{'multipleOf':0.1}", "0.35", " must be a multiple of 0.1, not 0.35"},
        {"{'const':'a'}", "'b'", " must be 'a'"},
        {"{'enum':['venv','docker']}", "'vnev'",
         " must be one of 'venv', 'docker'; did you mean 'venv'?"},
        {"{'enum':['venv',1,null]}", "'x'", " must be one of 'venv', 1, null"},
        {"{'minLength':1}", "''", " must have at least 1 character, not 0"},
        {"{'maxLength':2}", "'abc'", " must have at most 2 characters, not 3"},
        {"{'minItems':2}", "[1]", " must have at least 2 items, not 1"},
        {"{'maxProperties':1}", "{'a':1,'b':2}", " must have at most 1 member, not 2"},
        {"{'uniqueItems':true}", "[1,2,1.0]", " must not have equal items, as 0 and 2 are"},
        {"{'pattern':'^a'}", "'b'", " must match '^a', which 'b' does not"},
        {"{'required':['code','x']}", "{'x':1}", " is missing 'code'"},
        {"{'required':['a'],'properties':{'a':{'enum':['x','y']}}}", "{}",
         " is missing 'a', one of 'x', 'y'"},
        {"{'dependentRequired':{'a':['b']}}", "{'a':1}", " is missing 'b', which 'a' needs"},
        {"{'properties':{'image':{}},'additionalProperties':false}", "{'imagee':1}",
         "/imagee! unknown key 'imagee', did you mean 'image'?"},
        {"{'additionalProperties':false}", "{'a/b~':1}", "/a~1b~0! unknown key 'a/b~'"},
        {"{'properties':{'a':false}}", "{'a':1}", "/a! is not allowed"},
        {"{'propertyNames':{'maxLength':1}}", "{'ab':1}",
         "/ab! must have at most 1 character, not 2"},
        {"{'prefixItems':[{}],'items':false}", "[1,2]", " must have at most 1 item, not 2"},
        {"{'contains':{'type':'string'}}", "[1]",
         " must have at least 1 item fit for string, not 0"},
        {"{'not':{'type':'string'}}", "'a'", " must not be string"},
        {"false", "1", " is not allowed"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *problems = problems_of(cases[i].schema, cases[i].instance);

        assert_string_equal(problems, cases[i].problems);
    }
}

static void test_a_schema_brings_its_own_words(void **state)
{
    static const struct {
        const char *schema;
        const char *instance;
        const char *problems;
    } cases[] = {
        {"{'type':'string','pattern':'^a','x-wanted':'a name'}", "'b'", " must be a name, not 'b'"},
        {"{'type':'string','pattern':'^a','x-wanted':'a name'}", "3.1", " must be a name, not 3.1"},
        {"{'type':'string','pattern':'^a','x-wanted':'a name'}", "'a'", ""},
        {"{'type':'string','maxLength':1,'x-wanted':'a name'}", "'ab'",
         " must have at most 1 character, not 2"},
        {"{'propertyNames':{'pattern':'^a','x-wanted':'a name'}}", "{'b':1}",
         "/b! must be a name, not 'b'"},
        {"{'type':'string','pattern':'^a','x-wanted':'a name','writeOnly':true}", "'secret'",
         " must be a name"},
        {"{'type':'string','x-wanted':'a name','writeOnly':true}", "['secret']", " must be a name"},
        {"{'pattern':'^a','x-wanted':5}", "'b'", " must match '^a', which 'b' does not"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *problems = problems_of(cases[i].schema, cases[i].instance);

        assert_string_equal(problems, cases[i].problems);
    }
}

static void test_long_values_are_cut(void **state)
{
    (void)state;
    for (int length = 56; length < 70; length++) {
        AUTO_FREE char *instance = memory_format("'%0*d'", length, 0);
        AUTO_FREE char *problems = problems_of("{'pattern':'x'}", instance);
        AUTO_FREE char *quoted =
            length + 2 <= 60 ? memory_copy_string(instance) : memory_format("%.60s...", instance);
        AUTO_FREE char *expected = memory_format(" must match 'x', which %s does not", quoted);

        assert_string_equal(problems, expected);
    }
}

static void test_every_problem_is_reported(void **state)
{
    AUTO_FREE char *problems =
        problems_of("{'properties':{'a':{'type':'string'},'b':{'items':{'type':'number'}}},"
                    "'additionalProperties':false,'required':['c']}",
                    "{'a':1,'b':[1,'x',null],'d':1}");

    (void)state;
    assert_string_equal(problems, " is missing 'c'\n"
                                  "/a must be string, not integer\n"
                                  "/b/1 must be number, not string\n"
                                  "/b/2 must be number, not null\n"
                                  "/d! unknown key 'd'");
}

#define ENVIRONMENT                                                                                \
    "{'oneOf':[{'$ref':'#/$defs/system'},{'$ref':'#/$defs/venv'}],'$defs':{"                       \
    "'system':{'type':'object','properties':{'type':{'const':'system'},'executable':{}},"          \
    "'required':['type'],'additionalProperties':false},"                                           \
    "'venv':{'type':'object','properties':{'type':{'const':'venv'},'path':{'type':'string'}},"     \
    "'required':['type'],'additionalProperties':false}}}"

static void test_of_several_forms_the_one_that_is_meant_is_explained(void **state)
{
    static const struct {
        const char *schema;
        const char *instance;
        const char *problems;
    } cases[] = {
        {ENVIRONMENT, "{'type':'venv','path':3}", "/path must be string, not integer"},
        {ENVIRONMENT, "{'type':'venv','paht':'x'}",
         "/paht! unknown key 'paht', did you mean 'path'?"},
        {ENVIRONMENT, "{'type':'vnv'}",
         "/type must be one of 'system', 'venv'; did you mean 'venv'?"},
        {ENVIRONMENT, "{'path':'x'}", " is missing 'type', one of 'system', 'venv'"},
        {ENVIRONMENT, "3", " must be object with 'type' 'system' or object with 'type' 'venv'"},
        {"{'anyOf':[{'type':'string'},{'type':'array','items':{'type':'string'}}]}", "[1]",
         "/0 must be string, not integer"},
        {"{'anyOf':[{'type':'string'},{'type':'array'},{'const':null}]}", "true",
         " must be string, array or null"},
        {"{'anyOf':[{'required':['a','b']},{'title':'an image','type':'string'}]}", "{}",
         " is missing 'a'\n is missing 'b'"},
        {"{'anyOf':[{'required':['a']},{'required':['b']}]}", "{}",
         " must be object with 'a' or object with 'b'"},
        {"{'oneOf':[{'title':'whole','type':'integer'},{'minimum':2}]}", "3",
         " must be only one of whole and what /oneOf/1 describes"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *problems = problems_of(cases[i].schema, cases[i].instance);

        assert_string_equal(problems, cases[i].problems);
    }
}

static void test_schemas_that_cannot_be_used_are_refused_by_name(void **state)
{
    static const struct {
        const char *schema;
        const char *message;
    } cases[] = {
        {"3", ": must be a schema (object or boolean), not integer"},
        {"{'properties':{'a':{'tipe':'string'}}}",
         "/properties/a/tipe: keyword 'tipe' is not supported, did you mean 'type'?"},
        {"{'$dynamicRef':'#a'}", "/$dynamicRef: keyword '$dynamicRef' is not supported"},
        {"{'items':[{}]}", "/items: must be a schema (object or boolean), not [{}]"},
        {"{'type':'int'}", "/type: must be the name of a type, or an array of them, not 'int'"},
        {"{'minLength':-1}", "/minLength: must be an integer of at least 0, not -1"},
        {"{'required':'a'}", "/required: must be an array of strings, not 'a'"},
        {"{'pattern':'('}", "/pattern: missing closing parenthesis"},
        {"{'patternProperties':{'a/(':{}}}",
         "/patternProperties/a~1(: missing closing parenthesis"},
        {"{'$ref':'#/$defs/a'}", "/$ref: '#/$defs/a' leads to no schema in this document"},
        {"{'$ref':'http://a/b'}", "/$ref: 'http://a/b' leads out of this document"},
        {"{'properties':{'a':{'$ref':'#/properties/a'}}}",
         "/properties/a: refers to itself without end"},
        {"{'anyOf':[{'type':'string'},{'not':{'$ref':'#'}}]}", ": refers to itself without end"},
        {"{'$id':'a#b'}", "/$id: must be a URI without fragment, not 'a#b'"},
        {"{'$anchor':'1'}", "/$anchor: must be a plain name, not '1'"},
        {"{'$defs':{'a':{'$id':'x'},'b':{'$id':'x'}}}", "/$defs/b/$id: 'x' is given twice"},
        {"{'$defs':{'a':{'$anchor':'x'},'b':{'$anchor':'x'}}}",
         "/$defs/b/$anchor: 'x' is given twice"},
        {"{'$ref':'#/default','default':{}}",
         "/$ref: '#/default' leads to no schema in this document"},
        {"{'$schema':'http://json-schema.org/draft-07/schema#'}",
         "/$schema: must be 'https://json-schema.org/draft/2020-12/schema', the only dialect "
         "supported, not 'http://json-schema.org/draft-07/schema#'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = ERROR_INIT;

        assert_null(compile(cases[i].schema, &err));
        assert_int_equal(err.code, ERROR_CONFIG);
        for (char *c = err.message; *c; c++)
            if (*c == '"')
                *c = '\'';
        assert_string_equal(err.message, cases[i].message);
    }
}

static void test_references_lead_to_resources_anchors_and_pointers(void **state)
{
    static const char schema[] =
        "{'$id':'https://example.org/a/b','items':{'anyOf':["
        "{'$ref':'#text'},{'$ref':'/c#/$defs/x~1y%25'},{'$ref':'d?q'},{'$ref':'urn:e'}]},"
        "'$defs':{'t':{'$anchor':'text','const':'anchor'},"
        "'c':{'$id':'../c','$defs':{'x/y%':{'const':'pointer'}}},"
        "'d':{'$id':'https://example.org/a/x/../d?q','const':'query'},"
        "'e':{'$id':'urn:e','$ref':'#f','$defs':{'f':{'$anchor':'f','const':'urn'}}}}}";
    AUTO_FREE char *problems = problems_of(schema, "['anchor','pointer','query','urn','none']");

    (void)state;
    assert_string_equal(problems, "/4 must be 'anchor', 'pointer', 'query' or 'urn'");
}

static void test_unevaluated_parts_are_those_nobody_has_looked_at(void **state)
{
    static const struct {
        const char *schema;
        const char *instance;
        const char *problems;
    } cases[] = {
        {"{'$ref':'#/$defs/a','unevaluatedProperties':false,"
         "'$defs':{'a':{'properties':{'name':{}}}}}",
         "{'name':1,'nme':2}", "/nme! unknown key 'nme'"},
        {"{'anyOf':[{'properties':{'a':{'const':1}}},{'properties':{'b':{'const':2}}}],"
         "'unevaluatedProperties':{'type':'null'}}",
         "{'a':1,'b':3,'c':null}", "/b must be null, not integer"},
        {"{'allOf':[{'properties':{'a':{}}},{'unevaluatedProperties':false}]}", "{'a':1}",
         "/a! unknown key 'a'"},
        {"{'not':{'properties':{'a':{'const':2}}},'unevaluatedProperties':false}", "{'a':1}",
         "/a! unknown key 'a'"},
        {"{'prefixItems':[{}],'contains':{'type':'null'},'unevaluatedItems':false}", "[1,null,2,3]",
         "/2 is not allowed\n/3 is not allowed"},
        {"{'if':{'prefixItems':[{'const':1}]},'else':{'items':{}},'unevaluatedItems':false}",
         "[1,2]", "/1 is not allowed"},
        {"{'if':{'prefixItems':[{'const':1}]},'else':{'items':{}},'unevaluatedItems':false}",
         "[2,2]", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        AUTO_FREE char *problems = problems_of(cases[i].schema, cases[i].instance);

        assert_string_equal(problems, cases[i].problems);
    }
}

static void test_no_more_than_a_hundred_problems_are_reported(void **state)
{
    AUTO_FREE char *items = memory_new(1000, 2);
    AUTO_FREE char *instance = NULL;
    AUTO_FREE char *problems = NULL;
    size_t lines = 1;

    (void)state;
    for (size_t i = 0; i < 999; i++)
        memcpy(items + 2 * i, "1,", 3);
    instance = memory_format("[%s1]", items);
    problems = problems_of("{'items':{'type':'string'}}", instance);
    for (char *c = problems; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 100);
}

/* An array of arrays, DEPTH of them in each other, each twice in the one around it. */
static json_t *deep_instance(size_t depth)
{
    json_t *value = json_array();

    for (size_t i = 1; i < depth; i++) {
        json_t *outer = json_array();

        json_array_append(outer, value);
        json_array_append_new(outer, value);
        value = outer;
    }
    return value;
}

static void assert_given_up(const char *schema_text, json_t *instance /* taken */,
                            const char *reason)
{
    struct error err = ERROR_INIT;
    struct schema *schema = compile(schema_text, &err);
    AUTO_FREE char *lines = memory_copy_string("");

    assert_non_null(schema);
    assert_false(schema_validate(schema, instance, collect, &lines));
    assert_string_equal(lines, reason);
    assert_false(schema_validate(schema, instance, NULL, NULL));
    schema_free(schema);
    json_decref(instance);
}

static void test_what_takes_too_long_is_given_up(void **state)
{
    static const char too_long[] = " takes too long to check";
    json_t *numbers = json_array();
    char *text = memory_new(100001, 1);

    (void)state;
    for (int i = 0; i < 5000; i++)
        json_array_append_new(numbers, json_integer(i));
    memset(text, 'a', 100000);
    assert_given_up("{'items':{'$ref':'#'}}", deep_instance(50), too_long);
    assert_given_up("{'not':{'items':{'$ref':'#'}}}", deep_instance(51), too_long);
    assert_given_up("{'uniqueItems':true}", numbers, too_long);
    assert_given_up("{'pattern':'^(a|a)*b'}", json_string(text), too_long);
    assert_given_up("{'not':{'pattern':'^(a+)+[bd]'}}", json_string(text), too_long);
    assert_given_up("{'propertyNames':{'pattern':'a*a*a*[bd]'}}", json_pack("{s: i}", text, 1),
                    too_long);
    assert_given_up("{'patternProperties':{'a*a*a*[bd]':{}},'additionalProperties':false}",
                    json_pack("{s: i}", text, 1), too_long);
    free(text);
}

static void test_what_is_too_deep_is_given_up(void **state)
{
    (void)state;
    assert_given_up("{'items':{'$ref':'#'}}", deep_instance(1000),
                    " is nested too deeply to check");
}

static void test_the_document_is_kept(void **state)
{
    json_t *document = parse("{'const':'a'}");
    AUTO_JSON json_t *instance = json_string("a");
    struct error err = ERROR_INIT;
    struct schema *schema = schema_new(document, &err);

    (void)state;
    json_decref(document);
    assert_true(schema_validate(schema, instance, NULL, NULL));
    schema_free(schema);
    schema_free(NULL);
}

static void test_keywords_of_extensions_are_annotations(void **state)
{
    AUTO_FREE char *problems = problems_of("{'x-mcp-header':{'anything':1}}", "1");

    (void)state;
    assert_string_equal(problems, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_say_what_must_be_and_what_is),
        cmocka_unit_test(test_a_schema_brings_its_own_words),
        cmocka_unit_test(test_long_values_are_cut),
        cmocka_unit_test(test_every_problem_is_reported),
        cmocka_unit_test(test_of_several_forms_the_one_that_is_meant_is_explained),
        cmocka_unit_test(test_schemas_that_cannot_be_used_are_refused_by_name),
        cmocka_unit_test(test_references_lead_to_resources_anchors_and_pointers),
        cmocka_unit_test(test_unevaluated_parts_are_those_nobody_has_looked_at),
        cmocka_unit_test(test_no_more_than_a_hundred_problems_are_reported),
        cmocka_unit_test(test_what_takes_too_long_is_given_up),
        cmocka_unit_test(test_what_is_too_deep_is_given_up),
        cmocka_unit_test(test_the_document_is_kept),
        cmocka_unit_test(test_keywords_of_extensions_are_annotations),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
