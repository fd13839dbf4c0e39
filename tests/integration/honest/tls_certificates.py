"""ssl: the certificates of the machine load, those of Python's defaults, and ciphers."""
import hashlib
import os
import ssl

context = ssl.create_default_context()
print(context.cert_store_stats(), context.verify_mode, context.check_hostname)
print(len(context.get_ciphers()), ssl.HAS_TLSv1_3, ssl.OPENSSL_VERSION)
print(sorted(hashlib.sha256(certificate).hexdigest()[:8] for certificate in context.get_ca_certs(True))[:3])
paths = ssl.get_default_verify_paths()
print(paths, bool(paths.capath) and len(os.listdir(paths.capath)))
print(len(ssl.RAND_bytes(16)), ssl.cert_time_to_seconds("Jan  5 09:34:43 2018 GMT"))
