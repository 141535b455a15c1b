// A real OpenID provider (oidc-provider) that signs in one chosen person without asking, and whose ID tokens a test may change
// and sign again with the provider's own key.

import { createPrivateKey, generateKeyPairSync, sign, type JsonWebKey } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { afterFile, takeAll } from "../afterFile.ts";

type Person = { email?: string; email_verified?: boolean; name?: string };
type Claims = Record<string, unknown>;

const open = new Set<{ close(): unknown }>();

afterFile(() => {
  for (const server of takeAll(open)) server.close();
});

const newSigningKey = (): JsonWebKey => ({
  ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }),
  use: "sig",
  alg: "RS256",
  kid: "test",
});

export async function startOpenIdProvider(redirectUri: string) {
  const requests: string[] = [];
  let listener: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    listener(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  open.add({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Person>();
  const key = newSigningKey();
  const behaviour: { subject: string; change: ((claims: Claims) => Claims) | null; signWith: JsonWebKey } = {
    subject: "",
    change: null,
    signWith: key,
  };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "cleancast",
        client_secret: "s3cret-of-the-client",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    claims: { email: ["email", "email_verified"], profile: ["name"] },
    cookies: { keys: ["a key for the tests"] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...people.get(id) }),
    }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    jwks: { keys: [key] },
    async loadExistingGrant({ oidc }: { oidc: GrantContext }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client.clientId,
        accountId: oidc.session.accountId,
      });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
    pkce: { required: () => true },
    ttl: { Session: 60, Grant: 60, Interaction: 60, AccessToken: 60, IdToken: 60 },
  });
  provider.use(async (context, next) => {
    await next();
    const { body } = context;
    if (context.path !== "/token" || !body?.id_token || !behaviour.change) return;
    context.body = { ...body, id_token: resign(body.id_token, behaviour.change, behaviour.signWith) };
  });
  const callback = provider.callback();
  listener = (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return callback(request, response);
    void provider.interactionFinished(request, response, { login: { accountId: behaviour.subject } });
  };
  return { issuer, people, behaviour, requests, newSigningKey };
}

type GrantContext = {
  provider: { Grant: new (of: { clientId: string; accountId: string }) => Grant };
  client: { clientId: string };
  session: { accountId: string };
};
type Grant = { addOIDCScope(scope: string): void; save(): Promise<unknown> };

function resign(token: string, change: (claims: Claims) => Claims, key: JsonWebKey): string {
  const [header = "", payload = ""] = token.split(".");
  const claims = change(JSON.parse(Buffer.from(payload, "base64url").toString()) as Claims);
  const text = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  const signature = sign("sha256", Buffer.from(text), createPrivateKey({ key, format: "jwk" }));
  return `${text}.${signature.toString("base64url")}`;
}
