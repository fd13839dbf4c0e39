"""The agents in examples/ that start the server themselves, with a stand-in for their model."""

import installed
import model_scripts
import standin


def readings(venv, example, steps, home, model_name="standin"):
    """What the model reads of STEPS. EXAMPLE runs to its end, in the environment VENV."""
    with standin.Model(steps) as model:
        done = installed.run(installed.python(venv), str(installed.ROOT / "examples" / example), model_name, "Go on.",
                             *model_scripts.command(home), home=home, OPENAI_BASE_URL=f"{model.url}/v1",
                             OPENAI_API_KEY="none")
        assert done.returncode == 0 and model.ended, f"{done} {model.trouble}"
    assert done.stdout.strip() == standin.DONE
    return model.readings
