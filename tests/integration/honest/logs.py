"""logging: handlers for files, rotation, a dictionary of settings, a queue between threads, tracebacks, syslog's absence."""
import logging
import logging.config
import logging.handlers
import os
import queue
import sys

logging.config.dictConfig({
    "version": 1,
    "formatters": {"short": {"format": "%(levelname)s %(name)s: %(message)s"}},
    "handlers": {
        "out": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout", "formatter": "short"},
        "file": {"class": "logging.handlers.RotatingFileHandler", "filename": "run.log", "maxBytes": 200,
                 "backupCount": 2, "formatter": "short"}},
    "root": {"level": "INFO", "handlers": ["file"]},
    "loggers": {"loud": {"handlers": ["out"]}},
})
for number in range(20):
    logging.info("line %d", number)
logging.getLogger("loud").warning("careful")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("loud").error("failed", exc_info=sys.exc_info()[1] is None)
print(sorted(os.listdir()))
records = queue.Queue()
listener = logging.handlers.QueueListener(records, logging.StreamHandler(sys.stdout))
listener.start()
quiet = logging.getLogger("queued")
quiet.propagate = False
quiet.addHandler(logging.handlers.QueueHandler(records))
quiet.warning("from a queue")
listener.stop()
