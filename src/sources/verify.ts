// Checks that a request comes from its sender: one engine, and one row of data per scheme. All of them look at the raw bytes of
// the body, and compare in constant time. Times may differ in both directions, because clocks do.

import { createPublicKey, hash, timingSafeEqual, verify as verifySignature, type KeyObject } from "node:crypto";
import { minuteMs } from "../kernel/time.ts";

/** A part of the signed text. `uri` is the address as the sender called it. */
type Part = "body" | "time" | "id" | "method" | "uri" | "secret" | { text: string };

/** Where the time of a signature is: in a header of its own, or in the header of the signature. */
type SignedTime = { headers?: readonly string[]; unit: "seconds" | "milliseconds" };

/** How a header holds signatures. */
type HeaderForm =
  | { is: "plain"; prefixes?: readonly string[] }
  /** `t=…,v1=…,v1=…`. */
  | { is: "pairs"; separator: "," | ";"; time: string; signature: string }
  /** `v1,… v1,…`, as Standard Webhooks says. */
  | { is: "versions"; version: string };

/** A scheme with `onlyWhen` counts only where that setting has this value. */
export type Scheme = { onlyWhen?: { setting: string; is: readonly string[] } } &
  /** The secret address is all there is. */
  (
    | { by: "address" }
    | {
        by: "hmac" | "hash";
        /** The first header that the request has, or the setting that names the header. */
        headers: readonly string[] | { setting: string };
        form: HeaderForm;
        algorithm: "sha256" | "sha1";
        encoding: "hex" | "base64";
        message: readonly Part[];
        time?: SignedTime;
        /** Headers with the id of the delivery, where it is signed. */
        idHeaders?: readonly string[];
        /** The setting that holds the secret. */
        secret: string;
        key: "text" | "whsec";
      }
    | { by: "ed25519"; headers: readonly string[]; publicKey: string }
    | { by: "basic"; user: string; password: string }
    /** A header with a fixed value; both are settings. */
    | { by: "header"; name: string; secret: string }
  );

type HashScheme = Extract<Scheme, { by: "hmac" | "hash" }>;

export type SignedRequest = {
  method: string;
  /** Returns the addresses under which the sender may have called: the host table knows more names than the request. */
  uris: () => readonly string[];
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
};

/** The values of a setting that are valid now: of a secret, for a day, also the one before. */
type Valid = (setting: string) => readonly string[];

export type VerificationFault = "no signature" | "wrong signature" | "signature too old" | "signature from the future";

const toleranceMs = 5 * minuteMs;
/** Senders sign with two secrets during a rotation. */
const maxSignatures = 10;

/**
 * Returns null for an authentic request. Of several schemes one must hold. A scheme whose secret is not configured is not
 * checked; where none is, the address alone decides: kinds that always sign require their secret.
 */
export function verify(schemes: readonly Scheme[], request: SignedRequest, valid: Valid, now: number): VerificationFault | null {
  const usable = schemes.filter((scheme) => isConfigured(scheme, valid));
  let fault: VerificationFault | null = null;
  for (const scheme of usable) {
    const found = faultOf(scheme, request, valid, now);
    // A right signature of another time says that the request is an old one, whatever else it carries.
    if (found === null || found === "signature too old" || found === "signature from the future") return found;
    // A fault of a scheme that the request uses says more than that it does not use another one.
    if (fault === null || fault === "no signature") fault = found;
  }
  return fault;
}

function isConfigured(scheme: Scheme, valid: Valid): boolean {
  const { onlyWhen } = scheme;
  if (onlyWhen && !valid(onlyWhen.setting).some((value) => onlyWhen.is.includes(value))) return false;
  if (scheme.by === "address" || scheme.by === "ed25519") return true;
  return valid(scheme.by === "basic" ? scheme.password : scheme.secret).length > 0;
}

function faultOf(scheme: Scheme, request: SignedRequest, valid: Valid, now: number): VerificationFault | null {
  switch (scheme.by) {
    case "address":
      return null;
    case "hmac":
    case "hash":
      return hashFault(scheme, request, valid, now);
    case "ed25519":
      return ed25519Fault(scheme, request);
    case "basic":
      return basicFault(scheme, request, valid);
    case "header": {
      const given = headerOf(request, valid(scheme.name));
      if (given === null) return "no signature";
      return valid(scheme.secret).some((secret) => isEqual(secret, given)) ? null : "wrong signature";
    }
  }
}

function hashFault(scheme: HashScheme, request: SignedRequest, valid: Valid, now: number): VerificationFault | null {
  const names = "setting" in scheme.headers ? valid(scheme.headers.setting) : scheme.headers;
  const header = headerOf(request, names);
  if (header === null) return "no signature";
  const { signatures, time: givenTime } = readHeader(header, scheme.form);
  if (signatures.length === 0) return "no signature";
  const time = scheme.time?.headers ? headerOf(request, scheme.time.headers) : givenTime;
  const id = scheme.idHeaders ? headerOf(request, scheme.idHeaders) : "";
  if ((scheme.time && time === null) || id === null) return "no signature";
  const isRight = valid(scheme.secret).some((secret) => {
    const key = keyOf(secret, scheme);
    return (
      key !== null &&
      urisOf(scheme, request).some((uri) => {
        const parts = scheme.message.map((part) => bytesOf(part, { request, time: time ?? "", id, uri, secret }));
        const expected = digestOf(scheme, key, parts);
        return signatures.some((signature) => isEqual(expected, signature));
      })
    );
  });
  if (!isRight) return "wrong signature";
  return scheme.time ? timeFault(scheme.time, time ?? "", now) : null;
}

/** Each address is hashed with the whole body: a signature of a megabyte is tried with a few, and one of a usual request with all. */
const maxHashedBytes = 2 * 1024 * 1024;

/** Only a signature over the address has to be tried with each. The first ones are the likeliest. */
const urisOf = ({ message }: { message: readonly Part[] }, request: SignedRequest) =>
  message.includes("uri") ? request.uris().slice(0, Math.ceil(maxHashedBytes / (request.body.length + 1))) : [""];

/** An HMAC is two hashes, each after a form of the key (RFC 2104). Node's own object for it took a tenth of a busy relay's time. */
function digestOf({ by, algorithm, encoding }: HashScheme, { inner, outer }: HmacKey, parts: readonly Buffer[]): string {
  if (by === "hash") return hash(algorithm, Buffer.concat(parts), encoding);
  // A text: memory outside of the heap costs the collector more.
  const first = hash(algorithm, Buffer.concat([inner, ...parts]), "binary");
  return hash(algorithm, Buffer.concat([outer, Buffer.from(first, "binary")]), encoding);
}

type PartSource = { request: SignedRequest; time: string; id: string; uri: string; secret: string };

const bytesOf = (part: Part, source: PartSource): Buffer =>
  part === "body" ? source.request.body : Buffer.from(textOf(part, source));

function textOf(part: Exclude<Part, "body">, { request, time, id, uri, secret }: PartSource): string {
  if (typeof part === "object") return part.text;
  switch (part) {
    case "method":
      return request.method;
    case "time":
      return time;
    case "id":
      return id;
    case "uri":
      return uri;
    case "secret":
      return secret;
  }
}

/** The two forms of a key, as long as a block of the hash. */
type HmacKey = { inner: Buffer; outer: Buffer };

/** Of SHA-1 and SHA-256. */
const blockBytes = 64;
/** By their secrets, for each scheme. */
const hmacKeys = new WeakMap<HashScheme, Map<string, HmacKey>>();
const maxHmacKeys = 10_000;

function keyOf(secret: string, scheme: HashScheme): HmacKey | null {
  const { algorithm, key: form } = scheme;
  let keys = hmacKeys.get(scheme);
  if (!keys) hmacKeys.set(scheme, (keys = new Map()));
  const known = keys.get(secret);
  if (known) return known;
  const bytes = form === "text" ? Buffer.from(secret) : Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (bytes.length === 0) return null;
  const block = Buffer.alloc(blockBytes);
  (bytes.length > blockBytes ? hash(algorithm, bytes, "buffer") : bytes).copy(block);
  const key = { inner: block.map((byte) => byte ^ 0x36), outer: block.map((byte) => byte ^ 0x5c) } as HmacKey;
  if (keys.size >= maxHmacKeys) keys.clear();
  keys.set(secret, key);
  return key;
}

const pairValue = /^[\w+/=-]*$/;

function readHeader(header: string, form: HeaderForm): { signatures: string[]; time: string | null } {
  switch (form.is) {
    case "plain": {
      const prefix = (form.prefixes ?? [""]).find((one) => header.startsWith(one));
      const isGiven = prefix !== undefined && header.length > prefix.length;
      return { signatures: isGiven ? [header.slice(prefix.length)] : [], time: null };
    }
    case "pairs": {
      const signatures: string[] = [];
      let time: string | null = null;
      for (const pair of header.split(form.separator, 2 * maxSignatures)) {
        const at = pair.indexOf("=");
        const name = pair.slice(0, Math.max(at, 0)).trim();
        const value = pair.slice(at + 1).trim();
        // Two times would leave open which of them is signed, and a comma in a value comes from two headers in one.
        if (!pairValue.test(value) || (name === form.time && time !== null)) return { signatures: [], time: null };
        if (name === form.time) time = value;
        else if (name === form.signature && value !== "" && signatures.length < maxSignatures) signatures.push(value);
      }
      return { signatures: time === null ? [] : signatures, time };
    }
    case "versions": {
      const marks = header.split(" ", maxSignatures).filter((one) => one.startsWith(`${form.version},`));
      return { signatures: marks.map((one) => one.slice(form.version.length + 1)), time: null };
    }
  }
}

function timeFault({ unit }: SignedTime, text: string, now: number): VerificationFault | null {
  if (!/^\d{1,15}$/.test(text)) return "wrong signature";
  const at = unit === "seconds" ? Number(text) * 1000 : Number(text);
  if (at < now - toleranceMs) return "signature too old";
  return at > now + toleranceMs ? "signature from the future" : null;
}

const publicKeys = new Map<string, KeyObject>();

function publicKeyOf(base64: string): KeyObject {
  let key = publicKeys.get(base64);
  if (!key) {
    key = createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" });
    publicKeys.set(base64, key);
  }
  return key;
}

function ed25519Fault(
  { headers, publicKey }: Extract<Scheme, { by: "ed25519" }>,
  request: SignedRequest,
): VerificationFault | null {
  const given = headerOf(request, headers);
  if (given === null) return "no signature";
  // Exactly 64 bytes: what follows them, such as a second header's value, would not be looked at.
  const isOne = /^[A-Za-z0-9+/]{86}==$/.test(given);
  const isRight = isOne && verifySignature(null, request.body, publicKeyOf(publicKey), Buffer.from(given, "base64"));
  return isRight ? null : "wrong signature";
}

function basicFault(
  { user, password }: Extract<Scheme, { by: "basic" }>,
  request: SignedRequest,
  valid: Valid,
): VerificationFault | null {
  const [, given] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(headerOf(request, ["authorization"]) ?? "") ?? [];
  if (given === undefined) return "no signature";
  const name = valid(user)[0] ?? "";
  const isRight = valid(password).some((secret) => isEqual(Buffer.from(`${name}:${secret}`).toString("base64"), given));
  return isRight ? null : "wrong signature";
}

/** Returns the first of the headers that the request has; null where it has none. Node joins repeated ones, which then fail. */
function headerOf({ headers }: SignedRequest, names: readonly string[]): string | null {
  for (const name of names) {
    const value = headers[name.toLowerCase()];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

function isEqual(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
