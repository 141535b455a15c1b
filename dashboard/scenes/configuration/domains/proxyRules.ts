// Web server rules that forward /__cc/ to a relay on another machine.

/**
 * For an HTTPS upstream, nginx sends no SNI and verifies no certificate by default. Both are turned on, because this connection
 * carries keys. The Host header stays that of the shop: the relay finds the site by it. nginx refuses bodies of more than 1 MiB
 * by default, and a batch may have 2 MiB.
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
    "client_max_body_size 2m;",
    ...(protocol === "https:" ? encrypted : []),
  ];
  return `location /__cc/ {\n${lines.map((line) => `  ${line}\n`).join("")}}`;
}

/** Caddy sends SNI and verifies the upstream's certificate by default. */
export const caddyRule = (host: string, url: string): string => `${host} {
  handle /__cc/* {
    reverse_proxy ${url} {
      header_up Host {host}
    }
  }
}`;
