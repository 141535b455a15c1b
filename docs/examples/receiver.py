"""A receiver for Cleancast's outbound webhook, in Python, without dependencies.

    WEBHOOK_SECRET=whsec_... PORT=8090 python3 receiver.py

While you rotate the secret, set both, the new one first: WEBHOOK_SECRET=whsec_new,whsec_old
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

SECRETS = [one for one in os.environ.get("WEBHOOK_SECRET", "").split(",") if one]
if not SECRETS:
    sys.exit("Set WEBHOOK_SECRET to the secret that 'webhook add' showed.")

TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 64 * 1024

# In your own receiver, store these in your database, in one transaction with the totals.
seen = set()
totals = {"conversions": 0, "bot_traffic_removed": 0}
lock = Lock()


def equal(one, other):
    """Compares two strings in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def is_genuine(headers, body):
    bearer = headers.get("authorization", "")
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not any(equal(bearer, "Bearer " + secret) for secret in SECRETS):
        return False
    # Refuse replayed old messages.
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    given = headers.get("webhook-signature", "").split(" ")
    for secret in SECRETS:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        if any(equal(one, "v1," + signature) for one in given):
            return True
    return False


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = max(0, int(self.headers.get("content-length") or 0))
        body = self.rfile.read(min(length, MAX_BODY_BYTES))
        if length > MAX_BODY_BYTES or not is_genuine(self.headers, body):
            return self.answer(401)
        push = json.loads(body)
        message_id = self.headers["webhook-id"]
        with lock:
            # A push may arrive twice (if its answer was lost), with the same id. Tests are not counted.
            if message_id not in seen and self.headers.get("x-cc-test") != "true":
                seen.add(message_id)
                totals["conversions"] += push["conversions"]
                totals["bot_traffic_removed"] += push["bot_traffic_removed"]
            print(self.headers["x-cc-period"], json.dumps(totals, separators=(",", ":")), flush=True)
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
