"use strict";

// Posts to the relay. Zapier itself repeats a step that fails with a ThrottledError, after the given seconds; repeats are safe
// because the relay answers an order that it has already with `deduped`.

const defaultDelaySeconds = 60;

async function post(z, bundle, path, body) {
  const address = inboundAddress(z, bundle.authData.url);
  let response;
  try {
    response = await z.request({
      method: "POST",
      url: address + path,
      headers: { "X-CC-Api-Key": bundle.authData.key, "Content-Type": "application/json" },
      body: JSON.stringify(body),
      // A redirect would send the key to another address.
      redirect: "manual",
      timeout: 15_000,
      skipThrowForStatus: true,
    });
  } catch (error) {
    throw new z.errors.ThrottledError(`Cleancast: no answer: ${describe(error)}`, defaultDelaySeconds);
  }
  const { status, content } = response;
  const answer = parse(content);
  // Only the relay answers ok: true; a proxy in between may also answer 200.
  if (status === 200 && answer?.ok === true) return answer;
  const reason = typeof answer?.error === "string" ? answer.error : "the answer is not the relay's";
  const message = `Cleancast: ${status} ${reason}`;
  if (status === 200 || status === 429 || status >= 500)
    throw new z.errors.ThrottledError(message, Number(response.getHeader("retry-after")) || defaultDelaySeconds);
  throw new z.errors.Error(message, "Refused", status);
}

/** Names the cause by its code. The error itself may contain the request with its key, so it is not passed on. */
function describe(error) {
  const code = String(error?.code ?? error?.cause?.code ?? error?.type ?? "");
  if (/^(?:ENOTFOUND|EAI_AGAIN)$/.test(code)) return "the host name was not found";
  if (code === "ECONNREFUSED") return "connection refused";
  if (/^(?:ETIMEDOUT|request-timeout|body-timeout)$/.test(code)) return "nothing within 15 seconds";
  if (/CERT|SSL|SELF_SIGNED|UNABLE_TO|ALTNAME|EPROTO/.test(code)) return `TLS failed (${code})`;
  if (/^(?:ECONNRESET|EPIPE)$/.test(code)) return "the connection was closed";
  return /^[A-Z_]{3,40}$/.test(code) ? code : "the request failed";
}

function inboundAddress(z, url) {
  const base = url.trim().replace(/(?:\/__cc\/inbound)?\/*$/, "");
  if (!/^https:\/\/[^@\s]+$|^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(base))
    throw new z.errors.Error("The address must begin with https://, without a user name.", "Address", 400);
  return `${base}/__cc/inbound`;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

module.exports = { post };
