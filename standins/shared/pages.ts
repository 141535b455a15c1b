// The pages of a platform's sign-in: no scripts, no external resources, and every value escaped.

import { createHash } from "node:crypto";
import type { Answer, Call } from "./standin.ts";

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem}" +
  "button{font:inherit;padding:.5rem 1.5rem;margin-right:1rem}";
const styleHash = createHash("sha256").update(style).digest("base64");

export function consentPage(call: Call, redirectUri: string, scopes: readonly string[]): Answer {
  const fields = [...call.query].map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  return page(
    200,
    "Sign in to the stand-in",
    `<p>An application asks for access. After your decision you return to ` +
      `<strong>${escapeHtml(new URL(redirectUri).host)}</strong>.</p>` +
      `<ul>${scopes.map((scope) => `<li>${escapeHtml(scope)}</li>`).join("")}</ul>` +
      `<form method="post" action="${escapeHtml(call.path)}">${fields.join("")}` +
      `<button name="decision" value="allow">Allow</button>` +
      `<button name="decision" value="deny">Deny</button></form>`,
    // Browsers check the redirect after the form against this list too.
    `'self' ${new URL(redirectUri).origin}`,
  );
}

export function faultPage(why: string): Answer {
  return page(400, "This sign-in cannot continue", `<p>${escapeHtml(why)}</p>`, "'none'");
}

/** The error page of a proxy in front of the platform, where a client expects JSON. */
export function gatewayPage(status: number): Answer {
  return {
    status,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: `<html><head><title>${status} Error</title></head><body><center><h1>${status} Error</h1></center></body></html>\n`,
  };
}

function page(status: number, title: string, content: string, formAction: string): Answer {
  return {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "content-security-policy":
        `default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${formAction}; ` +
        `base-uri 'none'; frame-ancestors 'none'`,
    },
    body:
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
      `<style>${style}</style></head><body><main><h1>${title}</h1>${content}</main></body></html>`,
  };
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replace(/[&<>"']/g, (found) => entities[found] ?? found);
}
