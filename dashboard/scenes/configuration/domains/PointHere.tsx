// Instructions to route a domain's /__cc/ to this relay.

import { Stack, Tabs, Text } from "@mantine/core";
import { Card } from "../../../common/Page.tsx";
import { useSession, useSite } from "../../../common/api/session.ts";
import { Code } from "../../../common/values.tsx";
import { caddyRule, nginxRule } from "./proxyRules.ts";

export function PointHere() {
  const site = useSite();
  const url = useSession().data?.installation.url ?? location.origin;
  const host = site?.hosts[0] ?? "shop.example.com";
  const target = URL.parse(url)?.hostname ?? url;
  return (
    <Card
      title="Point the domain to Cleancast"
      about="The path /__cc/ of your own host must lead here. Browsers then treat it as first party and keep the visitor cookie for its full lifetime."
    >
      <Text size="sm" mb="sm">
        A proxy in front of the relay must forward requests for this domain, too. <b>Check now</b>, above,
        sends one through all of it.
      </Text>
      <Tabs defaultValue="nginx" keepMounted={false}>
        <Tabs.List aria-label="Ways to point a domain here">
          <Tabs.Tab value="nginx">nginx</Tabs.Tab>
          <Tabs.Tab value="caddy">Caddy</Tabs.Tab>
          <Tabs.Tab value="cname">Subdomain</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="nginx" pt="md">
          <Code label="nginx configuration">{nginxRule(url)}</Code>
        </Tabs.Panel>
        <Tabs.Panel value="caddy" pt="md">
          <Code label="Caddy configuration">{caddyRule(host, url)}</Code>
        </Tabs.Panel>
        <Tabs.Panel value="cname" pt="md">
          <Stack gap="sm">
            <Text size="sm">
              If you cannot change the web server of your pages, point a subdomain here and add it above as a
              domain of this site. Safari may limit the cookie of a subdomain to seven days, so a path on the
              same host is better.
            </Text>
            <Code label="DNS record">{`cc.${host.replace(/^www\./, "")}.  CNAME  ${target}.`}</Code>
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </Card>
  );
}
