import { Stack, Tabs, Text } from "@mantine/core";
import { Card } from "../../../common/Page.tsx";
import { useSession, useSite } from "../../../common/api/session.ts";
import { Code } from "../../../common/values.tsx";
import { ConfigurationPage } from "../../frame/SectionPage.tsx";
import { Hosts } from "./Hosts.tsx";
import { caddyRule, nginxRule } from "./proxyRules.ts";
import { configurationText } from "../../../messages/configuration.ts";
import { RichText } from "../../../common/format/RichText.tsx";

export default function Domains() {
  return (
    <ConfigurationPage tab="domains">
      <Hosts />
      <PointHere />
    </ConfigurationPage>
  );
}

/** Shows how to route a domain's /__cc/ to this relay. */
function PointHere() {
  const site = useSite();
  const url = useSession().data?.installation.url ?? location.origin;
  const host = site?.hosts[0] ?? "shop.example.com";
  const target = URL.parse(url)?.hostname ?? url;
  return (
    <Card title={configurationText.pointHere.title} about={configurationText.pointHere.about}>
      <Text size="sm" mb="sm">
        <RichText text={configurationText.pointHere.proxy} tags={{ b: (content) => <b>{content}</b> }} />
      </Text>
      <Tabs defaultValue="nginx" keepMounted={false}>
        <Tabs.List aria-label={configurationText.pointHere.ways}>
          <Tabs.Tab value="nginx">{configurationText.pointHere.nginx}</Tabs.Tab>
          <Tabs.Tab value="caddy">{configurationText.pointHere.caddy}</Tabs.Tab>
          <Tabs.Tab value="cname">{configurationText.pointHere.subdomain}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="nginx" pt="md">
          <Code label={configurationText.pointHere.nginxRule}>{nginxRule(url)}</Code>
        </Tabs.Panel>
        <Tabs.Panel value="caddy" pt="md">
          <Code label={configurationText.pointHere.caddyRule}>{caddyRule(host, url)}</Code>
        </Tabs.Panel>
        <Tabs.Panel value="cname" pt="md">
          <Stack gap="sm">
            <Text size="sm">{configurationText.pointHere.aboutSubdomain}</Text>
            <Code label={configurationText.pointHere.dnsRecord}>{`cc.${host.replace(/^www\./, "")}.  CNAME  ${target}.`}</Code>
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </Card>
  );
}
