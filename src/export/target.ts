// Where files go: a folder, or a bucket of an S3-compatible store.

import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Uploader } from "./upload.ts";
import { english } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import { encodeKey, signRequest, type S3Credentials } from "./signature.ts";

export type Target = {
  has(key: string): Promise<boolean>;
  put(key: string, path: string): Promise<void>;
};

export const folderTarget = (folder: string): Target => ({
  has: async (key) => existsSync(join(folder, key)),
  async put(key, path) {
    const file = join(folder, key);
    mkdirSync(dirname(file), { recursive: true });
    // A reader never sees half a file.
    copyFileSync(path, `${file}.part`);
    renameSync(`${file}.part`, file);
  },
});

export type Bucket = { endpoint: URL; bucket: string; prefix: string; credentials: S3Credentials };

/** Addresses the bucket in the path, which every store understands. */
export function bucketTarget({ endpoint, bucket, prefix, credentials }: Bucket, uploader: Uploader, now: () => number): Target {
  async function send(method: "PUT" | "GET", key: string, body: Uint8Array) {
    const url = new URL(`${endpoint.pathname.replace(/\/$/, "")}/${encodeKey(`${bucket}/${prefix}${key}`)}`, endpoint);
    const signed = signRequest({ method, url, body }, credentials, now());
    const answer = await uploader.send({ method, url, headers: signed, body: method === "GET" ? null : body });
    if (!answer.ok) throw new Refusal("to", `The bucket cannot be reached: ${english(answer.error)}.`);
    return answer;
  }
  const refuse = (what: string, { status, body }: { status: number; body: string }) => {
    // The store's own code, such as AccessDenied; never its text, which repeats the request.
    const code = /<Code>(\w{1,60})<\/Code>/.exec(body)?.[1];
    return new Refusal("to", `The bucket refused to ${what} a file: HTTP ${status}${code ? `, ${code}` : ""}.`);
  };
  return {
    async has(key) {
      const answer = await send("GET", key, new Uint8Array());
      if (answer.status === 404) return false;
      if (answer.status === 200) return true;
      throw refuse("read", answer);
    },
    async put(key, path) {
      const answer = await send("PUT", key, readFileSync(path));
      if (answer.status !== 200) throw refuse("take", answer);
    },
  };
}
