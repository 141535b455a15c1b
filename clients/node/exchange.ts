// Sends one HTTP request and reads the answer within a time limit, a size limit, and without following redirects.

export type Answer = {
  /** 0 if no answer arrived. */
  status: number;
  /** The body, without the key. */
  text: string;
  retryAfterMs: number | null;
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
  } catch {
    // The error of fetch differs between runtimes and may contain the request, so it is not passed on.
    const text = controller.signal.aborted ? `no answer within ${timeoutMs} ms` : "no answer";
    return { status: 0, text, retryAfterMs: null };
  } finally {
    clearTimeout(timer);
  }
}

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
