// How a domain's /__cc/ reaches this relay.

import { Stack, Tabs, Text } from "@mantine/core";
import { Card } from "../../common/Page.tsx";
import { useSession, useSite } from "../../common/session.tsx";
import { Code } from "../../common/values.tsx";

export function PointHere() {
  const site = useSite();
  const url = useSession().data?.installation.url ?? location.origin;
  const host = site?.hosts[0] ?? "shop.example.com";
  const target = URL.parse(url)?.host ?? url;
  return (
    <Card
      title="Let the domain reach Cleancast"
      about="The path /__cc/ of your own host must lead here. Then browsers see no third party, and keep the visitor cookie for its full life."
    >
      <Tabs defaultValue="nginx" keepMounted={false}>
        <Tabs.List aria-label="Ways to point a domain here">
          <Tabs.Tab value="nginx">nginx</Tabs.Tab>
          <Tabs.Tab value="caddy">Caddy</Tabs.Tab>
          <Tabs.Tab value="cname">Subdomain</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="nginx" pt="md">
          <Code label="nginx configuration">{nginx(url)}</Code>
        </Tabs.Panel>
        <Tabs.Panel value="caddy" pt="md">
          <Code label="Caddy configuration">{caddy(host, url)}</Code>
        </Tabs.Panel>
        <Tabs.Panel value="cname" pt="md">
          <Stack gap="sm">
            <Text size="sm">
              If you cannot change the server of your pages: let a subdomain point here, and add it above as a
              domain of this site. Safari may shorten the cookie of a subdomain to seven days, so a path of
              the same host is better.
            </Text>
            <Code label="DNS record">{`cc.${host.replace(/^www\./, "")}.  CNAME  ${target.replace(/:\d+$/, "")}.`}</Code>
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </Card>
  );
}

const nginx = (url: string) => `location /__cc/ {
  proxy_pass ${url};
  proxy_set_header Host $host;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
}`;

const caddy = (host: string, url: string) => `${host} {
  handle /__cc/* {
    reverse_proxy ${url} {
      header_up Host {host}
    }
  }
}`;
