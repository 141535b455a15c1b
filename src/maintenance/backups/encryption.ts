// Encrypts a backup while it is written: AES-256-GCM in chunks, so that a file of any size needs little memory and no byte is
// used before it is authenticated. The nonce of a chunk is its number and a flag for the last chunk: a file whose chunks are
// missing, moved or repeated is refused. The key is derived from a random salt for each file, so no nonce is used twice.
//
//   "ccbackup" 1 kind salt(16) check(16)        the header; kind 1 is a key, 2 a passphrase
//   ciphertext(65536) tag(16)                   each chunk; the last one is shorter, and may be empty

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { open } from "node:fs/promises";
import { Conflict } from "../../kernel/refusal.ts";

/** Encrypts and decrypts backups. */
export type BackupSecret = { kind: "key"; key: Buffer } | { kind: "passphrase"; passphrase: string };

const magic = Buffer.from("ccbackup\x01", "latin1");
const kinds = { key: 1, passphrase: 2 } as const;
const saltBytes = 16;
const checkBytes = 16;
const headerBytes = magic.length + 1 + saltBytes + checkBytes;
const chunkBytes = 64 * 1024;
const tagBytes = 16;
/** A guess costs about a third of a second and 128 MB. */
const scryptCost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

const variables = { key: "CLEANCAST_BACKUP_KEY", passphrase: "CLEANCAST_BACKUP_PASSPHRASE" } as const;

type FileKey = { key: Buffer; check: Buffer };

async function deriveKey(secret: BackupSecret, salt: Buffer): Promise<FileKey> {
  const from = secret.kind === "key" ? secret.key : await stretch(secret.passphrase, salt);
  const bytes = Buffer.from(hkdfSync("sha256", from, salt, "cleancast backup", 32 + checkBytes));
  return { key: bytes.subarray(0, 32), check: bytes.subarray(32) };
}

const stretch = (passphrase: string, salt: Buffer) =>
  new Promise<Buffer>((resolve, reject) =>
    scrypt(passphrase.normalize("NFC"), salt, 32, scryptCost, (error, key) => (error ? reject(error) : resolve(key))),
  );

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

export async function* encryptBytes(source: AsyncIterable<Buffer>, secret: BackupSecret): AsyncGenerator<Buffer> {
  const salt = randomBytes(saltBytes);
  const { key, check } = await deriveKey(secret, salt);
  const header = Buffer.concat([magic, Buffer.from([kinds[secret.kind]]), salt, check]);
  yield header;
  for await (const { number, isLast, bytes } of inChunks(source, chunkBytes)) {
    const cipher = createCipheriv("aes-256-gcm", key, nonceOf(number, isLast)).setAAD(header);
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Decrypts the bytes after the header. Throws `damaged()` for a chunk that is not the one that was written there. */
export async function* decryptBytes(
  source: AsyncIterable<Buffer>,
  { key, header }: OpenedHeader,
  damaged: () => Error,
): AsyncGenerator<Buffer> {
  for await (const { number, isLast, bytes } of inChunks(source, chunkBytes + tagBytes)) {
    if (bytes.length < tagBytes) throw damaged();
    const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(number, isLast)).setAAD(header);
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const plain = decipher.update(bytes.subarray(0, -tagBytes));
    try {
      decipher.final();
    } catch {
      throw damaged();
    }
    yield plain;
  }
}

/** Cuts bytes into chunks of one size. The last chunk is the only shorter one, and is always there. */
async function* inChunks(source: AsyncIterable<Buffer>, size: number) {
  let waiting: Buffer[] = [];
  let length = 0;
  let number = 0;
  for await (const some of source) {
    waiting.push(some);
    length += some.length;
    if (length < size) continue;
    let bytes = Buffer.concat(waiting);
    for (; bytes.length >= size; bytes = bytes.subarray(size))
      yield { number: number++, isLast: false, bytes: bytes.subarray(0, size) };
    waiting = [bytes];
    length = bytes.length;
  }
  yield { number, isLast: true, bytes: Buffer.concat(waiting) };
}

type OpenedHeader = { key: Buffer; header: Buffer; length: number };

/** Reads the header of a file. Returns null for a file that is not encrypted, and throws where the secret is not its own. */
export async function readBackupHeader(path: string, secret: BackupSecret | null): Promise<OpenedHeader | null> {
  const header = Buffer.alloc(headerBytes);
  const file = await open(path);
  try {
    await file.read(header, 0, headerBytes, 0);
  } finally {
    await file.close();
  }
  if (!header.subarray(0, magic.length).equals(magic)) return null;
  const kind = header[magic.length] === kinds.key ? "key" : "passphrase";
  if (secret?.kind !== kind) throw new Conflict("key", `${path} is encrypted with a ${kind}; set ${variables[kind]} to it.`);
  const salt = header.subarray(magic.length + 1, magic.length + 1 + saltBytes);
  const { key, check } = await deriveKey(secret, salt);
  if (!timingSafeEqual(check, header.subarray(-checkBytes)))
    throw new Conflict(
      "key",
      `${path} is encrypted with another ${kind} than that of ${variables[kind]}, or its first bytes are damaged.`,
    );
  return { key, header, length: headerBytes };
}
