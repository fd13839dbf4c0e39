"""How a session shows a value that has more than a text: pictures and pages become files, all else is text.

`directory` is where the session began; the program of the session gives it, when it loads this for the first such value.
"""

import base64
import io
import os
import re
import sys

MOST_FILES = 32  # of a cell
MOST_BYTES = 16 << 20  # of a file
LONGEST_SIDE = 2000  # of a figure, in pixels
PICTURES = {"image/png": "png", "image/jpeg": "jpg", "image/svg+xml": "svg"}
METHODS = {"image/png": "_repr_png_", "image/jpeg": "_repr_jpeg_", "image/svg+xml": "_repr_svg_",
           "text/markdown": "_repr_markdown_", "text/html": "_repr_html_", "text/latex": "_repr_latex_"}
FRAMES = {"display.max_rows": (60, 20), "display.max_columns": ((0, 20), 16), "display.expand_frame_repr": (True, False)}
LONG_TEXT = 4000  # of a value that can also be a page
NO_TEXT = re.compile(r"<[^\n]*( object| at 0x[0-9A-Fa-f]+)>")

files = 0
number = 0


def begin_cell():
    global files
    files = 0


def report(text):
    print(text, file=sys.stderr)


class Forms:
    """What VALUE says of itself, by MIME type; each is asked for once at most. What goes wrong is reported."""

    def __init__(self, value, bundle=None):
        self.value = value
        self.bundle = self.call("_repr_mimebundle_", include=None, exclude=None) if bundle is None else bundle
        if not isinstance(self.bundle, dict):
            self.bundle = {}

    def call(self, name, **arguments):
        method = getattr(type(self.value), name, None)
        if method is None or isinstance(self.value, type):
            return None
        try:
            data = method(self.value, **arguments)
        except Exception as error:
            report(f"{name} of {type(self.value).__name__} failed: {type(error).__name__}: {str(error)[:500]}")
            return None
        return data[0] if isinstance(data, tuple) and data else data

    def get(self, kind):
        data = self.bundle.get(kind)
        if data is None and kind in METHODS:
            data = self.call(METHODS[kind])
        if data is not None and not isinstance(data, (str, bytes)):
            report(f"{kind} of {type(self.value).__name__} is neither text nor bytes: {type(data).__name__}")
            return None
        return data

    def text(self, kind):
        data = self.get(kind)
        return data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else data

    def plain(self):
        text = self.bundle.get("text/plain")
        return text if isinstance(text, str) else repr(self.value)

    def picture(self):
        """Whether there was one, which is a file now."""
        for kind, extension in PICTURES.items():
            data = self.get(kind)
            if isinstance(data, str) and extension != "svg":
                try:
                    data = base64.b64decode(data)
                except ValueError:
                    report(f"{kind} of {type(self.value).__name__} is neither bytes nor base64")
                    continue
            if data:
                return save(data, extension)
        return False


def show(value, bundle=None):
    """Shows VALUE, or a BUNDLE of its forms by MIME type."""
    if is_a("matplotlib.figure", "Figure", value):
        return show_figure(value)
    if is_a("pandas", "DataFrame", value):
        return print(text_of_frame(value))
    return show_forms(Forms(value, bundle))


def show_forms(forms):
    has_picture = forms.picture()
    text = forms.text("text/markdown")
    if text is not None:
        return print(text)
    text = forms.plain()
    if NO_TEXT.fullmatch(text) or len(text) > LONG_TEXT:
        page = None if has_picture else forms.get("text/html")
        if has_picture or page and save(page, "html"):
            return None
        text = forms.text("text/latex") or text
    return print(text)


def is_a(module, name, value):
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def show_figure(figure):
    dpi = min(figure.dpi, LONGEST_SIDE / max(figure.get_size_inches()))
    picture = io.BytesIO()
    try:
        figure.savefig(picture, format="png", dpi=dpi, bbox_inches="tight")
    except Exception as error:
        report(f"the figure cannot be drawn: {type(error).__name__}: {str(error)[:500]}")
    else:
        save(picture.getvalue(), "png")


def text_of_frame(frame):
    """Fewer rows than pandas would print and no line twice, unless somebody has set these options."""
    pandas = sys.modules["pandas"]
    options = []
    for name, (before, ours) in FRAMES.items():
        if pandas.get_option(name) in (before if isinstance(before, tuple) else (before,)):
            options += [name, ours]
    with pandas.option_context(*options) if options else io.BytesIO():
        return repr(frame)


def save(data, extension):
    """Whether DATA is a file now, whose name is printed."""
    global files
    if isinstance(data, str):
        data = data.encode("utf-8", "backslashreplace")
    if len(data) > MOST_BYTES:
        report(f"{len(data)} bytes of {extension} are not saved: at most {MOST_BYTES} are")
        return False
    files += 1
    if files > MOST_FILES:
        if files == MOST_FILES + 1:
            report(f"a cell saves at most {MOST_FILES} of what it displays; the others are lost")
        return False
    try:
        with new_file(extension) as file:
            file.write(data)
    except OSError as error:
        report(f"what is displayed cannot be saved: {error.strerror}")
        return False
    print(f"[{os.path.basename(file.name)}]")
    return True


def new_file(extension):
    global number
    while True:
        number += 1
        try:
            return open(os.path.join(directory, f"display-{number}.{extension}"), "xb")
        except FileExistsError:
            pass
