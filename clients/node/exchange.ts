// Sends one HTTP request and reads the answer within a time limit, a size limit, and without following redirects.

export type Answer = {
  /** 0 if no answer arrived. */
  status: number;
  /** The body, without the key. */
  text: string;
  retryAfterMs: number | null;
  /** The runtime's own error, where no answer arrived. */
  cause?: unknown;
};

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** An answer to the largest batch is far smaller. */
const maxAnswerBytes = 8 * 1024 * 1024;

export async function exchange(
  fetch: Fetch,
  { url, key, body, timeoutMs }: { url: string; key: string; body: string; timeoutMs: number },
): Promise<Answer> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "X-CC-Api-Key": key, "Content-Type": "application/json" },
      body,
      // A redirect would send the key to another address.
      redirect: "manual",
      signal: controller.signal,
    });
    const text = await readText(response);
    return {
      status: response.status,
      // A proxy or an error page may repeat the request's headers.
      text: text.replaceAll(key, "[key]"),
      retryAfterMs: readRetryAfter(response.headers.get("retry-after")),
    };
  } catch (error) {
    const text = controller.signal.aborted ? `no answer within ${timeoutMs} ms` : `no answer: ${describeCause(error)}`;
    return { status: 0, text, retryAfterMs: null, ...(mentions(error, key) ? {} : { cause: error }) };
  } finally {
    clearTimeout(timer);
  }
}

/** Runtimes report these with codes and messages of their own. */
const causes: readonly [RegExp, string][] = [
  [/ENOTFOUND|EAI_AGAIN|dns error|failed to lookup/i, "the host name was not found"],
  [/ECONNREFUSED|connection refused/i, "connection refused"],
  [/ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|timed out/i, "the connection took too long"],
  [/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|\bSSL|_SSL_|EPROTO|\bTLS\b/i, "TLS failed"],
  [/EHOSTUNREACH|ENETUNREACH/, "the network cannot be reached"],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET|closed|terminated|reset/i, "the connection was closed"],
  [/too large/, "the answer is too large"],
];

function describeCause(error: unknown): string {
  const chain = chainOf(error);
  const codes = chain.map(({ code }) => code).filter((code) => typeof code === "string");
  const all = chain.map(({ code, name, message }) => `${String(code)} ${String(name)} ${String(message)}`).join("\n");
  const [, words = "the request failed"] = causes.find(([pattern]) => pattern.test(all)) ?? [];
  const code = codes.at(-1);
  return code === undefined ? words : `${words} (${code})`;
}

type Failure = { code?: unknown; name?: unknown; message?: unknown; stack?: unknown; cause?: unknown; errors?: unknown };

/** fetch wraps the error of the connection, which may be several: one for each address of the host. */
function chainOf(error: unknown, depth = 0): Failure[] {
  if (typeof error !== "object" || error === null || depth > 5) return [];
  const failure = error as Failure;
  const inner = Array.isArray(failure.errors) ? failure.errors : [];
  return [failure, ...[failure.cause, ...inner].flatMap((one) => chainOf(one, depth + 1))];
}

/** No known runtime puts headers into its errors; one that does must not bring the key into a log. */
const mentions = (error: unknown, key: string) =>
  chainOf(error).some((one) =>
    Object.values({ ...one, message: one.message, stack: one.stack })
      .join()
      .includes(key),
  );

async function readText(response: Response): Promise<string> {
  if (!response.body) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxAnswerBytes) {
      await reader.cancel();
      throw new Error("the answer is too large");
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Reads Retry-After, in seconds or as a date, in milliseconds from now. */
export function readRetryAfter(header: string | null): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
