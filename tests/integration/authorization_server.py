"""An authorization server: keys, signed tokens, and the two documents that say where the keys are.

Only `openssl` and the standard library: what signs here has nothing in common with what verifies.
"""

import base64
import hashlib
import hmac
import http.server
import json
import subprocess
import threading
import time

HASHES = {"256": "sha256", "384": "sha384", "512": "sha512"}
CURVE_BYTES = 32  # P-256
HOUR = 3600


def encode(data):
    if not isinstance(data, bytes):
        data = json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, data=b""):
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


def read_der(der, position):
    """The content of the element at POSITION, and where the next one begins."""
    length = der[position + 1]
    position += 2
    if length & 0x80:
        size = length & 0x7F
        length = int.from_bytes(der[position:position + size], "big")
        position += size
    return der[position:position + length], position + length


class Key:
    def __init__(self, folder, kid, kind="RSA", bits=2048):
        self.kid, self.kind = kid, kind
        self.path = folder / f"{kid}.pem"
        option = f"rsa_keygen_bits:{bits}" if kind == "RSA" else "ec_paramgen_curve:P-256"
        openssl("genpkey", "-algorithm", kind, "-pkeyopt", option, "-out", str(self.path))

    def public(self):
        return openssl("pkey", "-in", str(self.path), "-pubout")

    def jwk(self, **others):
        if self.kind == "RSA":
            modulus = openssl("rsa", "-in", str(self.path), "-noout", "-modulus")
            numbers = {"n": encode(bytes.fromhex(modulus.decode().strip().partition("=")[2])),
                       "e": "AQAB"}
        else:
            point = openssl("pkey", "-in", str(self.path), "-pubout", "-outform", "DER")[-2 * CURVE_BYTES:]
            numbers = {"crv": "P-256", "x": encode(point[:CURVE_BYTES]), "y": encode(point[CURVE_BYTES:])}
        return {"kty": self.kind, "kid": self.kid, "use": "sig", **numbers, **others}

    def sign(self, alg, data):
        command = ["dgst", f"-{HASHES[alg[2:]]}", "-sign", str(self.path)]
        if alg.startswith("PS"):
            command += ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:-1"]
        signature = openssl(*command, data=data)
        if self.kind == "RSA":
            return signature
        pair, _ = read_der(signature, 0)
        first, position = read_der(pair, 0)
        second, _ = read_der(pair, position)
        return b"".join(number.lstrip(b"\0").rjust(CURVE_BYTES, b"\0") for number in (first, second))


class AuthorizationServer:
    """Serves metadata and keys on a port of this machine. `questions` counts them by path."""

    def __init__(self, folder, resource="https://python.example.org/mcp"):
        self.folder, self.resource = folder, resource
        self.keys = [Key(folder, "first")]
        self.questions = {}
        self.answers = {}  # path -> what is served instead: None for an error
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.http.shutdown()
        self.http.server_close()

    def documents(self):
        return {
            "/.well-known/oauth-authorization-server":
                {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"},
            "/keys": {"keys": [key.jwk() for key in self.keys]},
            **self.answers,
        }

    def answer(self, request):
        self.questions[request.path] = self.questions.get(request.path, 0) + 1
        document = self.documents().get(request.path)
        body = json.dumps(document).encode()
        request.send_response(404 if document is None else 200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def config(self, **others):
        return {"resource": self.resource, "issuer": self.issuer, **others}

    def claims(self, **others):
        now = time.time()
        claims = {"iss": self.issuer, "aud": self.resource, "sub": "alice", "exp": now + HOUR,
                  "iat": now, "scope": "run", **others}
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, key=None, alg="RS256", header=None, **claims):
        """A token by KEY; what HEADER and CLAIMS have takes the place of what is usual."""
        key = key or self.keys[0]
        header = {"alg": alg, "typ": "at+jwt", "kid": key.kid, **(header or {})}
        text = f"{encode(header)}.{encode(self.claims(**claims))}"
        return f"{text}.{encode(key.sign(alg, text.encode()))}"

    def forge(self, alg, secret=b""):
        """A token without a signature, or with one by a secret that everybody knows."""
        header = {"alg": alg, "typ": "JWT", "kid": self.keys[0].kid}
        text = f"{encode(header)}.{encode(self.claims())}"
        if alg == "none":
            return f"{text}."
        return f"{text}.{encode(hmac.new(secret, text.encode(), hashlib.sha256).digest())}"
