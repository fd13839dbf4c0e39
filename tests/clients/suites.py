"""The own tests of AutoGen's executors, run with ours in their place; `./dev deps` brings their source."""

import tarfile

import installed
import package
import pytest

AUTOGEN = installed.DEPS / "autogen_suite"
AG2 = installed.DEPS / "ag2_suite"

# Each with the reason, which docs/autogen.md has, too.
AUTOGEN_DIFFERENT = {
    "test_execute_code_error": "tracebacks are Python's, not IPython's",
    "test_execute_multiple_code_blocks_error": "tracebacks are Python's, not IPython's",
    "test_execute_code_with_image_output": "the name of a picture's file stands for it, not its repr()",
    "test_execute_code_with_html_output": "imports IPython, which is not installed there",
    "venv_in_local_relative_path": "the Python of a venv in work_dir is another, as code could change that",
    # These reach for a package index.
    "test_can_load_function_with_reqs": "installs a package from the network",
    "test_fails_for_function_incorrect_dep": "installs a package from the network",
    "test_can_load_str_function_with_reqs": "installs a package from the network",
}
# pytest's words for the tests.
AG2_DIFFERENT = {
    "test_commandline_executor_init": "missing directories above work_dir are made, too",
    "test_local_commandline_code_executor_save_files": "a comment names a file only with the word `filename:`",
    "test_dangerous_commands": "shell commands are not judged by their spelling",
    "python_env_in_local_relative_path": "the Python of a venv in work_dir is another, as code could change that",
    "test_setup_functions": "calls a private method, or looks at how Path.write_text is called",
    "test_execute_code_bash_script and DockerJupyterExecutor": "needs IPython in the image",
    "test_save_html and DockerJupyterExecutor": "needs IPython in the image",
    # These reach for a package index.
    "test_silent_pip_install": "installs packages from the network",
    "test_can_load_function_with_reqs": "installs a package from the network",
    "test_fails_for_function_incorrect_dep": "installs a package from the network",
    "test_save_image": "installs a package from the network",
}


def run(venv, plugin, folder, different, *tests, home, **variables):
    """What pytest of VENV says of TESTS below FOLDER without those that are DIFFERENT; PLUGIN puts our executors in the
    place of the others."""
    chosen = " and ".join(f"not ({name})" for name in different)
    return package.run(venv, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", plugin, "-o",
                       "asyncio_mode=auto", "-k", chosen, "--rootdir", folder, *(folder / test for test in tests),
                       home=home, timeout=400, **variables)


def autogen(home, *tests, **variables):
    """Runs TESTS of AutoGen 0.7's suite in HOME."""
    installed.python("autogen_suite")
    sources = list(AUTOGEN.glob("autogen_ext-*.tar.gz"))
    if not sources:
        pytest.skip("no source of autogen-ext: ./dev deps fetches it")
    with tarfile.open(sources[0]) as archive:
        archive.extractall(home)
    (folder,) = home.glob("autogen_ext-*")
    return run("autogen_suite", "autogen_suite", folder / "tests", AUTOGEN_DIFFERENT, *tests, home=home, **variables)


def ag2(home, *tests, **variables):
    """Runs TESTS of AG2's suite, which has those of AutoGen 0.2, in HOME."""
    installed.python("ag2_suite")
    if not (AG2 / "test").is_dir():
        pytest.skip("no source of AG2's tests: ./dev deps fetches it where GitHub can be reached")
    return run("ag2_suite", "ag2_suite", AG2 / "test", AG2_DIFFERENT, *tests, home=home, **variables)
