// Problems of domains, and what to do about them.

export const hostMessages = {
  host_point_to: "Let a CNAME of {host} lead to {relay}, or pass /__cc/ of {host} on to this relay.",
  host_pass_on:
    "Pass /__cc/ of {host} on to this relay. (CLEANCAST_URL is not set, so the DNS alone cannot show that it leads here.)",
  host_not_found: "{host} is not in the DNS.",
  host_lookup_failed: "The DNS could not be asked about {host}.",
  host_check_dns: "The check is repeated automatically. If it keeps failing, check this machine's DNS.",
  host_private: "{host} leads to a private address, and is not called.",
  host_make_public:
    "Point it to a public address. Inside your own network: CLEANCAST_ALLOW_PRIVATE allows it, CLEANCAST_DNS sets another DNS server.",
  host_no_server: "{host} leads to {seen} and no server answers there on HTTPS.",
  host_too_slow: "{host} did not answer in time.",
  host_check_firewall: "Check its firewall and its server: port 443 must be open to the internet.",
  host_get_certificate: "Browsers refuse it too. Get a certificate for this name on the server that terminates its HTTPS.",
  host_not_us: "{host} answers, but not from here: {seen}.",
  host_other_installation: "Another Cleancast answers on {host}, or a node with another encryption key.",
  host_same_key: "{point} All nodes of one installation need the same encryption key.",
  host_pass_name: "Let the proxy pass the name on: in nginx proxy_set_header Host $host.",
  host_not_secure: "Requests to {host} arrive here as if they were not encrypted.",
  host_send_proto:
    "Let the proxy send X-Forwarded-Proto, and name its address in CLEANCAST_TRUST_PROXY where it runs on another machine.",
  host_check_failed: "The last check of {host} failed.",
  host_check_again: "Check it again.",
  host_header: "Requests to {host} arrive here as {seen}.",
  host_add_alias:
    "Let a CNAME of {host} lead to {relay}, or give it the address of the server that passes /__cc/ on to this relay. New records can take an hour.",
  host_add_address: "Give it the address of the server that passes /__cc/ on to this relay. New records can take an hour.",
  host_certificate: "{host} has no valid certificate: {reason}.",
  host_no_certificate: "{host} has no valid certificate for its name.",
} as const;
