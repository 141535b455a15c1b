// For the stand-ins' own tests: one call, and what came back.

export type Posted = { status: number; headers: Headers; text: string; body: unknown };

export async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Posted> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return toPosted(answer);
}

export async function get(url: string, headers: Record<string, string> = {}): Promise<Posted> {
  return toPosted(await fetch(url, { headers }));
}

async function toPosted(answer: Response): Promise<Posted> {
  const text = await answer.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: answer.status, headers: answer.headers, text, body };
}
