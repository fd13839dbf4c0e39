"""The definition of an environment is JSON, which few files read by key. All others get a struct from these."""

import definition_reads
import pytest

ITS_KIND = "the keys of one type"
JSON = "works on the JSON itself, before there is an environment"

READERS = {
    "environments/callers/caller_rules.c": JSON,
    "environments/callers/definition_schema.c": f"{JSON}: adds the defaults",
    "environments/catalog/catalog.c": "the variables, and which keys are written",
    "environments/catalog/exposure.c": "the venv that packages are installed into",
    "environments/catalog/extension.c": f"{JSON}: adds packages of a call to a definition of the configuration",
    "environments/docker/definition.c": ITS_KIND,
    "environments/environment.c": "the kernel, and the modules to preload",
    "environments/environment_settings.c": "the settings of all types",
    "environments/kinds/kinds.c": "the type",
    "environments/nodes/node_environment.c": "the node",
    "environments/packages/packages_definition.c": "the keys about packages",
    "environments/python_origins.c": f"{JSON}: what a Python is made of, for the configuration, too",
    "environments/sandbox_settings.c": "the keys of sandboxes",
    "environments/system/system.c": ITS_KIND,
    "environments/venv/definition.c": ITS_KIND,
    "server/commands/script_environment.c": f"{JSON}: adds to the packages of a script's block",
    "server/configuration/config_checks.c": JSON,
    "server/configuration/config_paths.c": JSON,
    "server/configuration/sandbox_checks.c": JSON,
    "server/configuration/tool_checks.c": f"{JSON}: the servers of tools",
    "server/functions_file.c": f"{JSON}: the functions, and their packages",
    "server/origins.c": f"{JSON}: what the server itself executes or believes",
    "server/service.c": f"{JSON}: puts the definition of the node in",
}


def test_a_definition_is_read_by_its_readers_alone():
    others = {path: places for path, places in definition_reads.by_file().items() if path not in READERS}
    assert not others, "use what a reader has read"


def test_the_list_names_files_that_read():
    assert set(READERS) <= set(definition_reads.by_file())


@pytest.mark.parametrize("line", [
    'json_object_get(definition, "image")',
    'json_object_get_string(site->definition, "image")',
    'json_object_copy_string(a.b->definition,\n                        "image")',
    'string_or((json_t *)definition, "image", "")',
    "json_object_get(definition, keys[i])",
    "json_object_get(definition, *ret_key)",
])
def test_finds_a_read(line):
    assert len(list(definition_reads.reads(f"x = {line};\n", {"image"}))) == 1


@pytest.mark.parametrize("line", [
    'json_object_get(definition, "OpenStdin")',
    'json_object_get(facts->arguments, "image")',
    'json_object_set(definition, "image", value)',
    '/* json_object_get(definition, "image") */',
])
def test_finds_nothing_else(line):
    assert not list(definition_reads.reads(f"x = {line};\n", {"image"}))
