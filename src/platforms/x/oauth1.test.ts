import { expect, test } from "vitest";
import { hmacSha1, oauth1Header, percentEncode, signatureBase, type Parameter } from "./oauth1.ts";

test.each([
  ["Ladies + Gentlemen", "Ladies%20%2B%20Gentlemen"],
  ["An encoded string!", "An%20encoded%20string%21"],
  ["Dogs, Cats & Mice", "Dogs%2C%20Cats%20%26%20Mice"],
  ["☃", "%E2%98%83"],
  ["-._~azAZ09", "-._~azAZ09"],
  ["!'()*", "%21%27%28%29%2A"],
])("%j is encoded as in RFC 3986", (text, encoded) => {
  expect(percentEncode(text)).toBe(encoded);
});

test("the base string equals that of RFC 5849, section 3.4.1.1, with names and values sorted after encoding", () => {
  expect(
    signatureBase("post", "http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b", [
      ["oauth_consumer_key", "9djdj82h48djs9d2"],
      ["oauth_token", "kkk9d7dh3k39sjv7"],
      ["oauth_signature_method", "HMAC-SHA1"],
      ["oauth_timestamp", "137131201"],
      ["oauth_nonce", "7d8f3e4a"],
      ["c2", ""],
      ["a3", "2 q"],
    ]),
  ).toBe(
    "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D" +
      "%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1" +
      "%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7",
  );
});

test("the base URLs equal those of RFC 5849, section 3.4.1.2", () => {
  const baseUrlOf = (address: string) => decodeURIComponent(signatureBase("GET", address, []).split("&")[1] ?? "");
  expect(baseUrlOf("http://EXAMPLE.COM:80/r%20v/X?id=123")).toBe("http://example.com/r%20v/X");
  expect(baseUrlOf("https://www.example.net:8080/?q=1")).toBe("https://www.example.net:8080/");
});

const client: Parameter[] = [
  ["oauth_consumer_key", "dpf43f3p2l4k3l03"],
  ["oauth_signature_method", "HMAC-SHA1"],
];
test.each<[string, string, string, Parameter[], string, string]>([
  [
    "temporary credentials",
    "POST",
    "https://photos.example.net/initiate",
    [
      ["oauth_timestamp", "137131200"],
      ["oauth_nonce", "wIjqoS"],
      ["oauth_callback", "http://printer.example.com/ready"],
    ],
    "",
    "74KNZJeDHnMBp0EMJ9ZHt/XKycU=",
  ],
  [
    "token credentials",
    "POST",
    "https://photos.example.net/token",
    [
      ["oauth_token", "hh5s93j4hdidpola"],
      ["oauth_timestamp", "137131201"],
      ["oauth_nonce", "walatlh"],
      ["oauth_verifier", "hfdp7dh39dks9884"],
    ],
    "hdhd0244k9j7ao03",
    "gKgrFCywp7rO0OXSjdot/IHF7IU=",
  ],
  [
    "a protected resource with a query",
    "GET",
    "http://photos.example.net/photos?file=vacation.jpg&size=original",
    [
      ["oauth_token", "nnch734d00sl2jdk"],
      ["oauth_timestamp", "137131202"],
      ["oauth_nonce", "chapoH"],
    ],
    "pfkkdhi9sl3r4s00",
    "MdpQcU8iPSUjWoN/UDMsK2sui9I=",
  ],
])("the signature equals that of RFC 5849, section 1.2: %s", (_what, method, url, parameters, tokenSecret, signature) => {
  const base = signatureBase(method, url, [...client, ...parameters]);
  expect(hmacSha1(base, "kd94hf93k423kf44", tokenSecret)).toBe(signature);
});

const documented = {
  consumerKey: "xvz1evFS4wEEPTGEFPHBog",
  consumerSecret: "kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw",
  token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
  tokenSecret: "LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE",
};
const status = percentEncode("Hello Ladies + Gentlemen, a signed OAuth request!");

test("the header equals that of X's documentation", () => {
  // The documentation has `status` in a form body; a parameter of the query is signed in the same way.
  expect(
    oauth1Header(
      {
        method: "POST",
        url: `https://api.twitter.com/1.1/statuses/update.json?include_entities=true&status=${status}`,
      },
      documented,
      { nonce: "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", timestamp: 1318622958 },
    ),
  ).toBe(
    'OAuth oauth_consumer_key="xvz1evFS4wEEPTGEFPHBog", oauth_nonce="kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", ' +
      'oauth_signature_method="HMAC-SHA1", oauth_timestamp="1318622958", ' +
      'oauth_token="370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb", oauth_version="1.0", ' +
      'oauth_signature="hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D"',
  );
});

test("neither secret is in the header", () => {
  const header = oauth1Header({ method: "POST", url: "https://api.example.com/" }, documented, {
    nonce: "n",
    timestamp: 1,
  });
  expect(header).not.toContain(documented.consumerSecret);
  expect(header).not.toContain(documented.tokenSecret);
});
