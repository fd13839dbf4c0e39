"""A package that plain Python imports is imported in a call, whatever was imported before."""

import pathlib

import packages
import pytest

DEPS = pathlib.Path(__file__).parents[2] / ".deps"
MATTER = ["IPython", "PIL", "anyio", "attrs", "autogen", "cffi", "click", "contourpy", "cryptography", "dateutil", "debugpy",
          "fontTools", "httpx", "huggingface_hub", "ipykernel", "jinja2", "joblib", "jsonschema", "langchain", "matplotlib",
          "numpy", "openai", "orjson", "packaging", "pandas", "pip", "psutil", "pydantic", "pygments", "pytest", "regex",
          "requests", "rich", "scipy", "sklearn", "starlette", "tiktoken", "tqdm", "websockets", "yaml"]


@pytest.mark.long
@pytest.mark.once
@pytest.mark.parametrize("name", ["data", "agents", pytest.param("ag2_suite", marks=pytest.mark.release)])
def test_pairs_are_imported_as_with_plain_python(name):
    venv = DEPS / name
    if not (venv / "installed").exists():
        pytest.skip(f"no .deps/{name}: ./dev deps installs it")
    names = [each for each in packages.names_of(venv) if each in MATTER]
    assert len(names) > 10
    with packages.Corpus(venv) as corpus:
        assert corpus.failures(names, seed=29) == {}
