/* The pip that comes with an interpreter, as a wheel in its ensurepip. */
#pragma once

/* For every Python 3: find_bundled_pip() returns the path of the wheel or None; it raises an
 * exception where there is no ensurepip, as on Debian without python3-venv. */
#define BUNDLED_PIP_SOURCE                                                                         \
    "def find_bundled_pip():\n"                                                                    \
    "    import ensurepip, glob, os\n"                                                             \
    "    own = os.path.join(os.path.dirname(ensurepip.__file__), '_bundled')\n"                    \
    "    for folder in (getattr(ensurepip, '_WHEEL_PKG_DIR', None) or own, own):\n"                \
    "        name = 'pip-%s-*.whl' % ensurepip.version()\n"                                        \
    "        found = glob.glob(os.path.join(glob.escape(str(folder)), name))\n"                    \
    "        if found:\n"                                                                          \
    "            return found[0]\n"                                                                \
    "    return None\n"

/* For every Python 3: default_index(WHEEL), of a pip or None, returns the URLs of the index that
 * pip asks unless it is told another, and of its files; or None. pip of no version promises to say
 * it. */
#define DEFAULT_INDEX_SOURCE                                                                       \
    "def default_index(wheel):\n"                                                                  \
    "    try:\n"                                                                                   \
    "        sys.path[len(sys.path):] = [wheel] if wheel else []\n"                                \
    "        from pip._internal.models.index import PyPI\n"                                        \
    "        return '%s https://%s/' % (PyPI.simple_url, PyPI.file_storage_domain)\n"              \
    "    except Exception:\n"                                                                      \
    "        return None\n"
