"""A receiver for the conversions that the platform `webhook` sends, in Python, without dependencies.

    WEBHOOK_SECRET=whsec_... PORT=8090 python3 event-receiver.py
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

SECRET = os.environ.get("WEBHOOK_SECRET", "")
if not SECRET.startswith("whsec_"):
    sys.exit("Set WEBHOOK_SECRET to the secret that 'connection add' showed.")

KEY = base64.b64decode(SECRET[len("whsec_") :])
TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 1024 * 1024

# In your own receiver, store the id in your database, in one transaction with the conversion.
seen = set()
lock = Lock()


def is_genuine(headers, body):
    """Checks the signature (Standard Webhooks). While the secret is rotated there are two, and one of them must match."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    # Refuse replayed old requests.
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    digest = hmac.new(KEY, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    signature = b"v1," + base64.b64encode(digest)
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one.encode(), signature) for one in given)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = max(0, int(self.headers.get("content-length") or 0))
        body = self.rfile.read(min(length, MAX_BODY_BYTES))
        if length > MAX_BODY_BYTES or not is_genuine(self.headers, body):
            return self.answer(401)
        message_id = self.headers["webhook-id"]
        with lock:
            # A conversion may arrive twice (if its answer was lost), with the same id. Test events are marked.
            if message_id not in seen and self.headers.get("x-cc-test") != "true":
                seen.add(message_id)
                sent = json.loads(body)
                print(sent["event"], sent["orderId"], sent["value"], sent["currency"], flush=True)
        return self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("", int(os.environ.get("PORT", "8090"))), Receiver)
print(f"listening on port {server.server_address[1]}", flush=True)
server.serve_forever()
