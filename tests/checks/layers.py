"""The layers and the folders in them, and which may include which."""

import os

# Bottom first. A file belongs to the layer with the longest folder that holds it.
BOTTOM = ("environments/engine", "environments/process")  # side by side: neither knows the other
MIDDLE = ("toolbox", "environments")  # side by side as well
LAYERS = [
    *BOTTOM,
    *MIDDLE,
    "server/tools",
    "server/mcp",
    "server/jsonrpc",
    "server/transport",
    "server",  # main: puts the layers together, so it may include every one of them
]
EVERYWHERE = ("base", "schemas")
OURS = EVERYWHERE + tuple(LAYERS)
# The folders inside a layer, bottom first: a folder includes itself and those before it.
FOLDERS = [
    "base",
    "base/curl",
    "base/protocol",
    "base/schema",
    "base/starter",
    "environments/egress",
    "environments/interpreter",
    "environments/packages",
    "environments/pictures",
    "environments/workplace",
    "environments",
    "environments/notebook",
    "environments/system",
    "environments/venv",
    "environments/docker",
    "environments/kinds",
    "environments/nodes",
    "environments/callers",
    "environments/catalog",
    "environments/outpost",
    "toolbox",
    "server/tools/code",
    "server/tools/hints",
    "server/tools",
    "server/tools/answer",
    "server/tools/python",
    "server/transport/socket",
    "server/transport/oauth",
    "server/transport/identity",
    "server/transport/http",
    "server/transport",
    "server/configuration",
    "server/clients",
    "server",
    "server/commands",
]
MAIN = "server/main.c"  # starts the command, above everything else in its folder


def layer_of(path):
    holders = [layer for layer in OURS if str(path).startswith(layer + "/")]
    return max(holders, key=len, default=None)


def may_include(layer, included):
    if layer == included or included in EVERYWHERE and layer not in EVERYWHERE:
        return True
    if layer == "server":
        return True
    if layer not in LAYERS:
        return False
    if layer == "toolbox":
        return included == "environments/process"
    if layer == "environments" or layer in BOTTOM:
        return layer not in BOTTOM and included in BOTTOM
    if layer == "server/tools":
        return included in MIDDLE
    return included == LAYERS[LAYERS.index(layer) - 1]


def is_upward_folder(path, name):
    """Does PATH include NAME from a folder of its layer that lies above its own?"""
    here, there = os.path.dirname(path), os.path.dirname(name)
    if str(path) == MAIN or layer_of(path) != layer_of(name) or not {here, there} <= set(FOLDERS):
        return False
    return FOLDERS.index(there) > FOLDERS.index(here)
