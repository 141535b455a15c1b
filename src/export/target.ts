// Where files go: a folder, or a bucket of an S3-compatible store.

import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorCode } from "../kernel/errorCode.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import { encodeKey, signRequest, type S3Credentials } from "./signature.ts";
import type { Uploader } from "./upload.ts";

export type Target = {
  has(key: string): Promise<boolean>;
  put(key: string, path: string): Promise<void>;
};

export const folderTarget = (folder: string): Target => ({
  has: async (key) => existsSync(join(folder, key)),
  async put(key, path) {
    const file = join(folder, key);
    try {
      mkdirSync(dirname(file), { recursive: true });
      // A reader never sees half a file.
      copyFileSync(path, `${file}.part`);
      renameSync(`${file}.part`, file);
    } catch (error) {
      throw new Refusal("to", say("folder_not_written", { error: errorCode(error) || "unknown" }));
    }
  },
});

export type Bucket = { endpoint: URL; bucket: string; prefix: string; credentials: S3Credentials };

/** Reads `s3://BUCKET/PREFIX`. The prefix is empty or ends with a slash. Null for another text. */
export function readBucketPlace(text: string): { bucket: string; prefix: string } | null {
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^\p{Cc}?#]{0,500}))?$/u.exec(text) ?? [];
  if (bucket === undefined || !prefix.isWellFormed()) return null;
  if (prefix.split("/").some((part) => part === "." || part === "..")) return null;
  return { bucket, prefix: prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/` };
}

/** Addresses the bucket in the path, which every store understands. */
export function bucketTarget({ endpoint, bucket, prefix, credentials }: Bucket, uploader: Uploader, now: () => number): Target {
  async function send(method: "PUT" | "GET", key: string, body: Uint8Array) {
    const url = new URL(`${endpoint.pathname.replace(/\/$/, "")}/${encodeKey(`${bucket}/${prefix}${key}`)}`, endpoint);
    const signed = signRequest({ method, url, body }, credentials, now());
    // Of a file that is only looked for, one byte is enough; the body of an error says more than a HEAD could.
    const headers = method === "GET" ? { ...signed, range: "bytes=0-0" } : signed;
    const answer = await uploader.send({ method, url, headers, body: method === "GET" ? null : body });
    if (!answer.ok) throw new Refusal("to", say("bucket_unreachable", { error: answer.error }));
    return answer;
  }
  const refusal = (code: "bucket_refused_read" | "bucket_refused_put", { status, body }: { status: number; body: string }) => {
    // The store's own code, such as AccessDenied; never its text, which repeats the request.
    const own = /<Code>(\w{1,60})<\/Code>/.exec(body)?.[1];
    return new Refusal("to", say(code, { answer: `HTTP ${status}${own ? `, ${own}` : ""}` }));
  };
  return {
    async has(key) {
      const answer = await send("GET", key, new Uint8Array());
      if (answer.status === 404) return false;
      // 416 is the answer to the range for a file without content.
      if ([200, 206, 416].includes(answer.status)) return true;
      throw refusal("bucket_refused_read", answer);
    },
    async put(key, path) {
      const answer = await send("PUT", key, readFileSync(path));
      if (answer.status !== 200) throw refusal("bucket_refused_put", answer);
    },
  };
}
