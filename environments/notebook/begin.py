"""Begins the program of a session (driver.py): as a zygote has imported it ahead, or from its TEXT, which embed.py puts
before this.
"""

import os
import sys

import _signal

_signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGINT])  # until the program has a handler

NAME = "pyexecd session"  # as base/starter/preload.py has it
place = sys.path[:1] if sys.path[:1] in ([""], [os.getcwd()]) else []
del sys.path[:len(place)]  # a file there must not stand for a module of the program
try:
    session = __import__(NAME)
    del sys.modules[NAME]
except ImportError:
    session = type(sys)(NAME)
    exec(compile(TEXT, "<session>", "exec"), vars(session))
if place:
    sys.path.insert(0, os.getcwd())
session.main()
