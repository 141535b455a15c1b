import { expect, test } from "vitest";
import { type Claims, readClaims } from "./claims.ts";

const claims = (
  engine: Claims["engine"],
  version: Claims["version"],
  os: Claims["os"],
  mobile = false,
  inApp = false,
): Claims => ({ engine, version, os, mobile, inApp });

test.each<[string, Claims]>([
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
    claims("chromium", 126, "windows"),
  ],
  [
    "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    claims("chromium", 126, "chromeos"),
  ],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0", claims("gecko", 127, "linux")],
  ["Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0", claims("gecko", 127, "android", true)],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4.1 Safari/605.1.15",
    claims("webkit", 17, "macos"),
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
    claims("webkit", 17, "ios", true),
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0.6478.35 Mobile/15E148 Safari/604.1",
    claims("webkit", null, "ios", true),
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 334.0.4.32.98 (iPhone15,3; iOS 17_5_1)",
    claims("webkit", null, "ios", true, true),
  ],
  [
    "Mozilla/5.0 (Linux; Android 14; SM-S918B Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/125.0.6422.165 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/465.0.0.55.91;]",
    claims("chromium", 125, "android", true, true),
  ],
  [
    "Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    claims("chromium", 126, "android"),
  ],
  ["Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko", claims("other", null, "windows")],
  ["curl/8.7.1", claims("other", null, "other")],
  ["", claims("other", null, "other")],
])("the claims of %s are read", (userAgent, expected) => {
  expect(readClaims(userAgent)).toEqual(expected);
});

test("a Chrome that claims an iPhone keeps both claims", () => {
  expect(
    readClaims(
      "Mozilla/5.0 (iPhone; CPU iPhone OS 11_0 like Mac OS X) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/60.0.3188.106 Mobile Safari/537.36",
    ),
  ).toEqual(claims("chromium", 60, "ios", true));
});
