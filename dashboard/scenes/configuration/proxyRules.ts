// What a shop's own web server needs to pass /__cc/ on to a relay elsewhere.

/**
 * To a relay behind HTTPS the server says the relay's name in the handshake (nginx says none by itself) and believes only a
 * certificate of that name: keys pass here. The Host header stays the shop's, by which the relay knows the site.
 */
export function nginxRule(url: string): string {
  const { protocol, hostname } = new URL(url);
  const encrypted = [
    "proxy_ssl_server_name on;",
    `proxy_ssl_name ${hostname};`,
    "proxy_ssl_verify on;",
    "proxy_ssl_verify_depth 3;",
    "proxy_ssl_trusted_certificate /etc/ssl/certs/ca-certificates.crt;",
  ];
  const lines = [
    `proxy_pass ${url};`,
    "proxy_set_header Host $host;",
    "proxy_set_header X-Forwarded-Proto $scheme;",
    "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
    ...(protocol === "https:" ? encrypted : []),
  ];
  return `location /__cc/ {\n${lines.map((line) => `  ${line}\n`).join("")}}`;
}

/** Caddy says the upstream's name in the handshake, and checks its certificate, by itself. */
export const caddyRule = (host: string, url: string): string => `${host} {
  handle /__cc/* {
    reverse_proxy ${url} {
      header_up Host {host}
    }
  }
}`;
