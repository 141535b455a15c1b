// An encrypted backup: read back as written, and refused with another key or with any byte missing, changed or moved.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { freshFolder } from "../../../test/support/databases.ts";
import { readBackup, writeLines } from "../backupFile.ts";
import { decryptBytes, encryptBytes, readBackupHeader, type BackupSecret } from "./encryption.ts";

const secret: BackupSecret = { kind: "key", key: Buffer.alloc(32, 1) };
const passphrase: BackupSecret = { kind: "passphrase", passphrase: "correct horse battery" };
const header = { cleancast: "backup", format: 1, schema: 1, engine: "sqlite", version: "1", madeAt: "now" };
const chunk = 65_536 + 16;

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(source: AsyncIterable<Buffer>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(source));
}

async function encrypt(plain: Buffer, by = secret): Promise<string> {
  const file = join(freshFolder(), "encrypted");
  writeFileSync(file, await collect(encryptBytes(inPieces(plain, 10_000), by)));
  return file;
}

async function decrypt(file: string, by = secret): Promise<Buffer> {
  const opened = await readBackupHeader(file, by);
  if (!opened) return expect.unreachable("the file is encrypted");
  const rest = readFileSync(file).subarray(opened.length);
  return collect(decryptBytes(inPieces(rest, 9999), opened, () => new Error("damaged")));
}

/** Not compressible, and larger than two chunks. */
const plain = Buffer.from(Array.from({ length: 150_000 }, (_, i) => (i * i * 31) % 251));
let file: string;
let whole: Buffer;

beforeAll(async () => {
  file = await encrypt(plain);
  whole = readFileSync(file);
});

test("bytes of every length around a chunk are read back as they were written", async () => {
  expect(await decrypt(file)).toEqual(plain);
  for (const length of [0, 1, 65_535, 65_536, 65_537, 131_072]) {
    const some = plain.subarray(0, length);
    expect((await decrypt(await encrypt(some))).equals(some), `${length} bytes`).toBe(true);
  }
});

test("two files of the same bytes have nothing in common but their first bytes", async () => {
  const again = readFileSync(await encrypt(plain));
  expect(again.subarray(0, 10)).toEqual(whole.subarray(0, 10));
  expect(again.subarray(10, 60).equals(whole.subarray(10, 60))).toBe(false);
  expect(again.subarray(-100).equals(whole.subarray(-100))).toBe(false);
});

test("an encrypted file that is cut off, changed, or has its chunks moved is refused", async () => {
  const start = whole.length - plain.length - 3 * 16;
  const [first, second] = [whole.subarray(start, start + chunk), whole.subarray(start + chunk, start + 2 * chunk)];
  const faults: Record<string, Buffer> = {
    "cut at the end of a chunk": whole.subarray(0, start + 2 * chunk),
    "cut within a chunk": whole.subarray(0, start + chunk + 100),
    "only the header": whole.subarray(0, start),
    "chunks exchanged": Buffer.concat([whole.subarray(0, start), second, first, whole.subarray(start + 2 * chunk)]),
    "a chunk left out": Buffer.concat([whole.subarray(0, start), second, whole.subarray(start + 2 * chunk)]),
    "bytes after the end": Buffer.concat([whole, Buffer.from("x")]),
  };
  for (const at of [start, start + chunk - 1, start + chunk, whole.length - 1]) {
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] as number) ^ 1;
    faults[`byte ${at} changed`] = flipped;
  }
  const bad = join(freshFolder(), "bad");
  for (const [name, bytes] of Object.entries(faults)) {
    writeFileSync(bad, bytes);
    await expect(decrypt(bad), name).rejects.toThrow("damaged");
  }
});

test("another key, a missing key and a wrong passphrase are named as such", async () => {
  await expect(decrypt(file, { kind: "key", key: Buffer.alloc(32, 2) })).rejects.toThrow(
    "is encrypted with another key than that of CLEANCAST_BACKUP_KEY",
  );
  await expect(readBackupHeader(file, null)).rejects.toThrow("is encrypted with a key; set CLEANCAST_BACKUP_KEY");
  const other = await encrypt(Buffer.from("text"), passphrase);
  expect(String(await decrypt(other, passphrase))).toBe("text");
  await expect(decrypt(other)).rejects.toThrow("is encrypted with a passphrase; set CLEANCAST_BACKUP_PASSPHRASE");
  await expect(decrypt(other, { kind: "passphrase", passphrase: "incorrect horse" })).rejects.toThrow(
    "another passphrase than that of CLEANCAST_BACKUP_PASSPHRASE",
  );
});

test("a backup is read with its key, refused when it is cut off, and shows nothing of its rows", async () => {
  const path = join(freshFolder(), "backup");
  const rows = Array.from({ length: 3000 }, (_, i) => `["secret-order-${i}-${(i * 7919) % 10_007}"]\n`);
  const lines = async function* () {
    yield `${JSON.stringify(header)}\n`;
    yield `{"table":"sites","columns":["id"]}\n`;
    yield* rows;
  };
  await writeLines(lines(), path, secret);
  const bytes = readFileSync(path);
  expect(bytes.includes("cleancast")).toBe(false);
  const read = async (by: BackupSecret | null) => {
    let count = 0;
    for await (const part of readBackup(path, by)) if (part.part === "rows") count += part.rows.length;
    return count;
  };
  // The lines of this file end too early, which is found after all of them were decrypted.
  await expect(read(secret)).rejects.toThrow("is cut off");
  await expect(read(null)).rejects.toThrow("set CLEANCAST_BACKUP_KEY");
  for (const length of [bytes.length - 1, 70, 40, 20]) {
    writeFileSync(path, bytes.subarray(0, length));
    await expect(read(secret), `${length} bytes`).rejects.toThrow(/damaged|cut off|not a Cleancast backup/);
  }
});
