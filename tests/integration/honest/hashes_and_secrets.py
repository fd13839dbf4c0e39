"""hashlib, hmac, secrets, uuid, base64: digests of every kind, of files, keys from passwords; openssl as a program."""
import base64
import hashlib
import hmac
import secrets
import subprocess
import uuid

for name in sorted(hashlib.algorithms_guaranteed):
    digest = hashlib.new(name, b"data")
    print(name, digest.hexdigest(8) if name.startswith("shake") else digest.hexdigest()[:16])
print(hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000).hex(), hashlib.scrypt(b"p", salt=b"s", n=16, r=1, p=1).hex()[:16])
print(hmac.new(b"key", b"data", "sha256").hexdigest(), hmac.compare_digest("a", "a"))
print(len(secrets.token_urlsafe()), uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"), uuid.uuid4().version, uuid.uuid1().version)
print(base64.b85encode(b"data"), sorted(hashlib.algorithms_available)[:5])
print(subprocess.run(["openssl", "dgst", "-sha256", "-r"], input=b"data", stdout=subprocess.PIPE).stdout)
