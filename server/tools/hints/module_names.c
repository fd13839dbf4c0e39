#include "server/tools/hints/module_names.h"

#include "base/memory.h"

#include <string.h>

/* Well-known packages whose one module has their name. */
static const char *const same_names[] = {
    "aiohttp",    "altair",      "anthropic",  "arrow",        "attrs",      "autopep8",
    "black",      "bokeh",       "boto3",      "catboost",     "certifi",    "chardet",
    "click",      "cloudpickle", "colorama",   "cryptography", "cvxpy",      "dask",
    "deap",       "django",      "duckdb",     "emoji",        "faker",      "fastapi",
    "feedparser", "flake8",      "flask",      "folium",       "gensim",     "geopandas",
    "gmpy2",      "graphviz",    "h5py",       "html5lib",     "httpx",      "humanize",
    "hypothesis", "igraph",      "imageio",    "jinja2",       "joblib",     "jsonschema",
    "keras",      "librosa",     "lightgbm",   "loguru",       "lxml",       "markdown",
    "matplotlib", "moviepy",     "mpmath",     "mutagen",      "mypy",       "nbformat",
    "networkx",   "nltk",        "numba",      "numexpr",      "numpy",      "openai",
    "openpyxl",   "orjson",      "ortools",    "pandas",       "paramiko",   "pdf2image",
    "pdfplumber", "pendulum",    "playwright", "plotly",       "polars",     "psutil",
    "psycopg",    "pulp",        "pyarrow",    "pydantic",     "pydot",      "pydub",
    "pygments",   "pymongo",     "pymysql",    "pypdf",        "pyperclip",  "pyproj",
    "pytest",     "pytz",        "qrcode",     "rdkit",        "redis",      "regex",
    "reportlab",  "requests",    "rich",       "schedule",     "scipy",      "scrapy",
    "seaborn",    "selenium",    "setuptools", "shapely",      "simplejson", "sortedcontainers",
    "soundfile",  "spacy",       "sqlalchemy", "statsmodels",  "structlog",  "sympy",
    "tabulate",   "tensorflow",  "termcolor",  "tiktoken",     "toml",       "tomli",
    "torch",      "torchvision", "tqdm",       "transformers", "typer",      "tzlocal",
    "ujson",      "unidecode",   "urllib3",    "uvicorn",      "watchdog",   "weasyprint",
    "websockets", "wordcloud",   "xarray",     "xgboost",      "xlrd",       "xlsxwriter",
    "yfinance",   "zarr",
};

static const struct {
    const char *module;
    struct module_name known;
} other_names[] = {
    {"attr", {.package = "attrs"}},
    {"Bio", {.package = "biopython"}},
    {"bs4", {.package = "beautifulsoup4"}},
    {"charset_normalizer", {.package = "charset-normalizer"}},
    {"Crypto", {.package = "pycryptodome"}},
    {"cv2", {.package = "opencv-python-headless", .also = "opencv-python"}},
    {"Cython", {.package = "cython"}},
    {"dateutil", {.package = "python-dateutil"}},
    {"distutils", {.package = "setuptools"}},
    {"dns", {.package = "dnspython"}},
    {"docx", {.package = "python-docx"}},
    {"dotenv", {.package = "python-dotenv"}},
    {"faiss", {.package = "faiss-cpu", .also = "faiss-gpu"}},
    {"ffmpeg", {.package = "ffmpeg-python"}},
    {"fitz", {.package = "pymupdf"}},
    {"fpdf", {.package = "fpdf2"}},
    {"git", {.package = "gitpython"}},
    {"github", {.package = "pygithub"}},
    {"imblearn", {.package = "imbalanced-learn"}},
    {"IPython", {.package = "ipython"}},
    {"jose", {.package = "python-jose"}},
    {"jwt", {.package = "pyjwt"}},
    {"ldap", {.package = "python-ldap"}},
    {"Levenshtein", {.package = "levenshtein"}},
    {"magic", {.package = "python-magic"}},
    {"more_itertools", {.package = "more-itertools"}},
    {"mpl_toolkits", {.package = "matplotlib"}},
    {"multipart", {.package = "python-multipart"}},
    {"mysql", {.package = "mysql-connector-python"}},
    {"MySQLdb", {.package = "mysqlclient"}},
    {"nacl", {.package = "pynacl"}},
    {"netCDF4", {.package = "netcdf4"}},
    {"odf", {.package = "odfpy"}},
    {"OpenSSL", {.package = "pyopenssl"}},
    {"osgeo", {.package = "gdal"}},
    {"PIL", {.package = "pillow"}},
    {"pkg_resources", {.package = "setuptools"}},
    {"pptx", {.package = "python-pptx"}},
    {"psycopg2", {.package = "psycopg2-binary", .also = "psycopg2"}},
    {"pylab", {.package = "matplotlib"}},
    {"PyPDF2", {.package = "pypdf2"}},
    {"pywt", {.package = "pywavelets"}},
    {"ruamel", {.package = "ruamel.yaml"}},
    {"sentence_transformers", {.package = "sentence-transformers"}},
    {"serial", {.package = "pyserial"}},
    {"shapefile", {.package = "pyshp"}},
    {"skimage", {.package = "scikit-image"}},
    {"sklearn", {.package = "scikit-learn"}},
    {"skopt", {.package = "scikit-optimize"}},
    {"slugify", {.package = "python-slugify"}},
    {"speech_recognition", {.package = "speechrecognition"}},
    {"stl", {.package = "numpy-stl"}},
    {"telegram", {.package = "python-telegram-bot"}},
    {"umap", {.package = "umap-learn"}},
    {"usb", {.package = "pyusb"}},
    {"websocket", {.package = "websocket-client"}},
    {"Xlib", {.package = "python-xlib"}},
    {"yaml", {.package = "pyyaml"}},
    {"zmq", {.package = "pyzmq"}},

    /* Modules of an earlier or a more complete Python. */
    {"asynchat", {.instead = "Python 3.12 has no asynchat: use asyncio."}},
    {"asyncore", {.instead = "Python 3.12 has no asyncore: use asyncio."}},
    {"cgi", {.instead = "Python 3.13 has no cgi: use urllib.parse and email."}},
    {"commands", {.instead = "That is Python 2: use subprocess."}},
    {"ConfigParser", {.instead = "That is Python 2: use configparser."}},
    {"cPickle", {.instead = "That is Python 2: use pickle."}},
    {"crypt", {.instead = "Python 3.13 has no crypt: use hashlib."}},
    {"cStringIO", {.instead = "That is Python 2: use io.StringIO."}},
    {"HTMLParser", {.instead = "That is Python 2: use html.parser."}},
    {"httplib", {.instead = "That is Python 2: use http.client."}},
    {"imghdr", {.instead = "Python 3.13 has no imghdr: look at the first bytes of the file."}},
    {"imp", {.instead = "Python 3.12 has no imp: use importlib."}},
    {"pipes", {.instead = "Python 3.13 has no pipes: use subprocess and shlex."}},
    {"Queue", {.instead = "That is Python 2: use queue."}},
    {"smtpd", {.instead = "Python 3.12 has no smtpd."}},
    {"StringIO", {.instead = "That is Python 2: use io.StringIO."}},
    {"msvcrt", {.instead = "msvcrt is of Windows, and this is Linux."}},
    {"telnetlib", {.instead = "Python 3.13 has no telnetlib: use socket."}},
    {"tkinter", {.instead = "There is no screen here: write files or print instead."}},
    {"Tkinter", {.instead = "There is no screen here: write files or print instead."}},
    {"turtle", {.instead = "There is no screen here: draw into a file instead."}},
    {"urllib2", {.instead = "That is Python 2: use urllib.request."}},
    {"urlparse", {.instead = "That is Python 2: use urllib.parse."}},
    {"win32api", {.instead = "win32api is of Windows, and this is Linux."}},
    {"win32com", {.instead = "win32com is of Windows, and this is Linux."}},
    {"winreg", {.instead = "winreg is of Windows, and this is Linux."}},
};

struct module_name module_name_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(same_names); i++)
        if (strcmp(name, same_names[i]) == 0)
            return (struct module_name){.package = same_names[i]};
    for (size_t i = 0; i < ARRAY_SIZE(other_names); i++)
        if (strcmp(name, other_names[i].module) == 0)
            return other_names[i].known;
    return (struct module_name){0};
}
