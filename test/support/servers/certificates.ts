// Creates certificates for tests: for any names, with any expiry, issued by an authority of their own.

import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { isIP } from "node:net";
import { dayMs as day } from "../../../src/kernel/time.ts";

export type TestCertificate = { cert: string; key: string };
type Authority = TestCertificate & {
  issue(names: readonly string[], endsAt?: number): TestCertificate;
};

function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}
const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
const nameOf = (text: string) => sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(text)))));
const timeOf = (ms: number) => {
  const digits = new Date(ms).toISOString().replaceAll(/\D/g, "").slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
};
const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value));
const bits = (bytes: Buffer) => der(0x03, Buffer.from([0]), bytes);

type Wanted = { subject: string; names: readonly string[]; endsAt: number; isAuthority: boolean };

function make(wanted: Wanted, issuer?: { subject: string; key: KeyObject }) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const { subject, names, endsAt, isAuthority } = wanted;
  const alternatives = names.map((name) =>
    isIP(name) ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name)),
  );
  const extensions = [
    extension("551d13", isAuthority ? sequence(der(0x01, Buffer.from([0xff]))) : sequence()),
    ...(names.length ? [extension("551d11", sequence(...alternatives))] : []),
  ];
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    nameOf(issuer?.subject ?? subject),
    sequence(timeOf(Math.min(Date.now(), endsAt) - 2 * day), timeOf(endsAt)),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", body, issuer?.key ?? privateKey);
  const whole = sequence(body, ecdsaWithSha256, bits(signature)).toString("base64");
  const lines = whole.match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    privateKey,
  };
}

export function newAuthority(): Authority {
  const subject = `Test authority ${randomBytes(4).toString("hex")}`;
  const { privateKey, ...own } = make({
    subject,
    names: [],
    endsAt: Date.now() + 30 * day,
    isAuthority: true,
  });
  return {
    ...own,
    issue(names, endsAt = Date.now() + 20 * day) {
      const { cert, key } = make({ subject: names[0] ?? "", names, endsAt, isAuthority: false }, { subject, key: privateKey });
      return { cert, key };
    },
  };
}
