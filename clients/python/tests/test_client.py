"""python3 -m unittest

What needs a relay runs only with CLEANCAST_URL and CLEANCAST_KEY, an inbound key of a site that is connected to the sandbox alone.
"""

import asyncio
import os
import socket
import threading
import time
import traceback
import unittest
import uuid

from cleancast import AsyncCleancast, Cleancast, CleancastError, Conversion

URL, KEY = os.environ.get("CLEANCAST_URL"), os.environ.get("CLEANCAST_KEY")


def accepted(event):
    return {"ok": True, "event": event, "results": {"sandbox": {"ok": True}}}


@unittest.skipUnless(URL and KEY, "CLEANCAST_URL and CLEANCAST_KEY are not set")
class WithRelay(unittest.TestCase):
    def setUp(self):
        self.client = Cleancast(URL, KEY, budget=60)

    def test_an_order_with_all_its_fields_is_accepted_once_and_two_refunds_of_it(self):
        order = {"email": "ada@example.com", "currency": "EUR", "orderId": str(uuid.uuid4())}
        purchase: Conversion = {
            **order,
            "event": "purchase",
            "value": 49.9,
            "items": [{"id": "SKU-1", "name": "Mug", "price": 24.95, "quantity": 2}],
            "clickIds": {"gclid": "Cj0KCQiA"},
            "clickTime": int(time.time()),
            "leadId": "123456789012345",
        }
        self.assertEqual(self.client.send(purchase), accepted("purchase"))
        self.assertEqual(self.client.send(purchase), {"ok": True, "deduped": True})
        for refund in ("R-1", "R-2"):
            answer = self.client.send({**order, "event": "refund", "value": 5, "refundId": refund})
            self.assertEqual(answer["event"], "refund")

    def test_each_conversion_of_a_batch_is_answered(self):
        lead = {"email": "ada@example.com", "event": "lead", "orderId": str(uuid.uuid4())}
        refused = {"ok": False, "status": 400, "error": "email or hashed_email required", "retryable": False}
        self.assertEqual(self.client.send_batch([lead, {"event": "lead"}]), [accepted("lead"), refused])

    def test_asyncio_sends_several_at_once(self):
        async def send_all():
            client = AsyncCleancast(self.client)
            # The batch has orders of its own: it may arrive before any of the others.
            leads = [{"email": "ada@example.com", "event": "lead", "orderId": str(uuid.uuid4())} for _ in range(6)]
            return await asyncio.gather(*(client.send(one) for one in leads[:3]), client.send_batch(leads[3:]))

        *one_by_one, batch = asyncio.run(send_all())
        self.assertEqual(one_by_one, [accepted("lead")] * 3)
        self.assertEqual(batch, [accepted("lead")] * 3)


class FirstErrors(unittest.TestCase):
    def fail_at(self, url, timeout=14):
        # The first wait is longer than the budget, so there is one attempt.
        client = Cleancast(url, "cc_secret0123456789", timeout=timeout, budget=14, first_delay=30)
        with self.assertRaises(CleancastError) as caught:
            client.send({"email": "ada@example.com", "event": "lead"})
        error = caught.exception
        self.assertIsInstance(error.__cause__, Exception)
        printed = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self.assertNotIn("cc_secret", printed)
        self.assertTrue(error.retryable)
        return str(error)

    def test_a_host_name_that_does_not_exist(self):
        self.assertEqual(self.fail_at("https://nope.invalid"), "no answer: the host name was not found")

    def test_a_port_that_nothing_listens_on(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        self.assertEqual(self.fail_at(f"http://127.0.0.1:{port}"), "no answer: connection refused")

    def test_silence_and_tls_on_a_plain_port(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            self.assertEqual(self.fail_at(f"http://127.0.0.1:{port}", timeout=0.2), "no answer: nothing within 0.2 seconds")
            threading.Thread(target=answer_plainly, args=(server,), daemon=True).start()
            self.assertRegex(self.fail_at(f"https://127.0.0.1:{port}"), r"^no answer: TLS failed \(\w+\)$")


def answer_plainly(server):
    while True:
        try:
            connection = server.accept()[0]
        except OSError:
            return
        with connection:
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


if __name__ == "__main__":
    unittest.main()
