"""Eight clients run hostile programs, mixed, while another one's print(1) is answered in time and rightly.

HOSTILE_RUNS in the environment is how many programs are run.
"""

import os
import random
import threading
import time

import corpus
import leftovers
import pytest
from arena import CONFIG, Arena, Unheld, patience

RUNS = int(os.environ.get("HOSTILE_RUNS", "100"))
CLIENTS = 8
SEED = 20  # any: the same mixture each time
LEVEL = "namespace"
# These take long by themselves, not because of what they attack.
SLOW = {"many_entries", "output_flood", "many_files", "memory", "memory_of_children", "blinds_its_supervisor"}
TIMEOUT = 0.3  # of those that never end


class Client(threading.Thread):
    """Runs programs one after the other; `wrong` is what came of them that should not have."""

    def __init__(self, server, programs):
        super().__init__()
        self.server = server
        self.programs = programs
        self.wrong = []
        self.is_over = False

    def run(self):
        for program in self.programs:
            self.attack(program)
        self.is_over = True

    def attack(self, program):
        """Over a connection of its own, and so in a directory where nobody else has been."""
        connection = self.server.connect()
        connection.initialize()
        limit = TIMEOUT if "timeout" in program.expected(LEVEL) else program.limit
        arguments = {"code": program.code, "timeout": limit}
        result = connection.call_tool("run_python", arguments, timeout=120)["structuredContent"]
        connection.close()
        ended = corpus.outcome(result)
        if not program.is_expected(ended, LEVEL) and not ended.startswith("timeout"):
            self.wrong.append((program.name, ended))


def one_answer(server, number):
    """Asks for NUMBER; how long the answer took, and whether it was right."""
    begun = time.monotonic()
    result = server.call_tool("run_python", {"code": f"print({number})"}, timeout=120)["structuredContent"]
    return time.monotonic() - begun, result["stdout"] == f"{number}\n"


@pytest.mark.heavy
@pytest.mark.skipif(leftovers.sanitized(), reason="it measures, and leaves out the time of sanitizers")
def test_others_are_answered_in_a_storm():
    choose = random.Random(SEED)
    programs = [program for program in corpus.at(LEVEL) if program.name not in SLOW]
    chosen = choose.choices(programs, k=RUNS)
    with Arena(LEVEL, Unheld(transport="unix", config=CONFIG)) as arena:
        clients = [Client(arena.server, chosen[number::CLIENTS]) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        answers = []
        while any(client.is_alive() for client in clients):
            answers.append(one_answer(arena.server, len(answers)))
        assert all(client.is_over for client in clients)
        assert not [wrong for client in clients for wrong in client.wrong]
        arena.look_around()
    assert all(is_right for _, is_right in answers)
    slowest = sorted(seconds for seconds, _ in answers)[int(len(answers) * 0.99)]
    print(f"{RUNS} runs, {len(answers)} answers, p99 {slowest:.3f} s")
    assert slowest < patience()
