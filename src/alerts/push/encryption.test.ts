// The example of RFC 8291, appendix A, and messages that a browser's own cryptography decrypts.

import { createECDH } from "node:crypto";
import { expect, test } from "vitest";
import { newDevice, readVapid } from "../../../test/support/pushDevice.ts";
import { encryptPush, newPushKey, publicPushKey, pushAuthorization } from "./encryption.ts";

test("the example of RFC 8291 gives its bytes", () => {
  const own = createECDH("prime256v1");
  own.setPrivateKey(Buffer.from("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw", "base64url"));
  const keys = {
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  };
  const salt = Buffer.from("DGv6ra1nlYgDCS1FRnbzlw", "base64url");
  expect(encryptPush("When I grow up, I want to be a watermelon", keys, { own, salt }).toString("base64url")).toBe(
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  );
});

test("a message of the greatest length fits into 4,096 bytes, and a longer one is refused", async () => {
  const device = await newDevice();
  const longest = JSON.stringify({ text: "x".repeat(3993 - '{"text":""}'.length) });
  const body = encryptPush(longest, device.keys);
  expect(body.length).toBe(4096);
  expect(JSON.stringify(await device.decrypt(body))).toBe(longest);
  expect(() => encryptPush(`${longest} `, device.keys)).toThrow("3994 bytes");
});

test("a push service can verify who sends, and for which service", async () => {
  const key = newPushKey();
  const now = Date.UTC(2026, 10, 19);
  const header = pushAuthorization(key, "https://push.example/v1/abc?d=e", "https://cc.example.com", now);
  expect(await readVapid(header)).toEqual({
    claims: { aud: "https://push.example", exp: now / 1000 + 43_200, sub: "https://cc.example.com" },
    publicKey: publicPushKey(key),
  });
  // A push service may refuse a contact that is no public address.
  const local = await readVapid(pushAuthorization(key, "https://push.example/", "http://localhost:8080", now));
  expect(local.claims).not.toHaveProperty("sub");
});
