/* pip as an installer into a virtual environment that is not trusted. */
#pragma once

/* A program for every Python 3, started with -I and -S in an empty virtual environment. Its first
 * arguments are the prefix to install into, the directory of packages there, the directory of pip,
 * and a directory of packages in another venv, which are there, too. An empty third one stands for
 * the packages of the base Python, an empty fourth one for none. The arguments of pip follow.
 *
 * pip finds out what is installed by sys.path. Python imports by it, too, so a package with the
 * name of an optional module of pip would run. Hence imports go by a list of their own. pip's own
 * pkg_resources asks the finder of each directory for the namespaces that packages declare, so
 * finders outside of that list find nothing. In the prefix pip looks for settings, which a package
 * could have brought. */
#define INSTALLER_PIP                                                                              \
    "import os, runpy, site, sys\n"                                                                \
    "from importlib.machinery import FileFinder, PathFinder\n"                                     \
    "\n"                                                                                           \
    "prefix, packages, pip, parent = sys.argv[1:5]\n"                                              \
    "of_base = site.getsitepackages([sys.base_prefix])\n"                                          \
    "library = sys.path + ([pip] if pip else of_base)\n"                                           \
    "\n"                                                                                           \
    "def shows_base():\n"                                                                          \
    "    try:\n"                                                                                   \
    "        with open(prefix + '/pyvenv.cfg', 'rb') as file:\n"                                   \
    "            return b'include-system-site-packages = true' in file.read(65536).lower()\n"      \
    "    except OSError:\n"                                                                        \
    "        return False\n"                                                                       \
    "\n"                                                                                           \
    "class Finder(PathFinder):\n"                                                                  \
    "    @classmethod\n"                                                                           \
    "    def find_spec(cls, name, path=None, target=None):\n"                                      \
    "        return PathFinder.find_spec(name, library if path is None else path, target)\n"       \
    "\n"                                                                                           \
    "class Nothing(FileFinder):\n"                                                                 \
    "    def find_spec(self, name, target=None):\n"                                                \
    "        return None\n"                                                                        \
    "\n"                                                                                           \
    "def finder_of(path):\n"                                                                       \
    "    if any(path == place or path.startswith(place + os.sep) for place in trusted):\n"         \
    "        raise ImportError\n"                                                                  \
    "    return Nothing(path)\n"                                                                   \
    "\n"                                                                                           \
    "trusted = [os.path.abspath(place) for place in library]\n"                                    \
    "sys.path_importer_cache.clear()\n"                                                            \
    "sys.path_hooks.insert(0, finder_of)\n"                                                        \
    "sys.meta_path[sys.meta_path.index(PathFinder)] = Finder\n"                                    \
    "sys.prefix = sys.exec_prefix = prefix\n"                                                      \
    "shown = ([parent] if parent else []) + (of_base if shows_base() else [])\n"                   \
    "sys.path = sys.path + [packages] + shown\n"                                                   \
    "from pip._internal import configuration\n"                                                    \
    "files = configuration.get_configuration_files\n"                                              \
    "configuration.get_configuration_files = lambda: {**files(), configuration.kinds.SITE: []}\n"  \
    "sys.argv[1:5] = []\n"                                                                         \
    "runpy.run_module('pip', run_name='__main__', alter_sys=True)\n"
