import { Box, Stack, Tabs, Text, Button, Group, TextInput } from "@mantine/core";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import { useSend } from "../../../common/api/query.ts";
import { useSession, useSite, useMay, useSiteId } from "../../../common/api/session.ts";
import { fieldError, otherError } from "../../../common/fields.ts";
import { notify } from "../../../common/notices.tsx";
import { SettingsCard } from "../../../common/settings/SettingsCard.tsx";
import { ChoiceField } from "../../../common/settings/settingFields.tsx";
import { Loading, RequestError } from "../../../common/states.tsx";
import { Code } from "../../../common/values.tsx";
import { ConfigurationPage } from "../../frame/SectionPage.tsx";
import { CopySettings } from "./CopySettings.tsx";
import { DeleteSite } from "./DeleteSite.tsx";
import { Hosts } from "./Hosts.tsx";
import { caddyRule, nginxRule } from "./proxyRules.ts";

const zones = () =>
  ["UTC", ...Intl.supportedValuesOf("timeZone")].map((value) => ({
    value,
    label: value.replaceAll("_", " "),
  }));

export default function Domains() {
  return (
    <ConfigurationPage tab="domains">
      <Hosts />
      <PointHere />
      <SettingsCard
        title="Site"
        about="The site's name in the dashboard and in alerts, and its time zone."
        fields={(form) => {
          const current = form.value("time_zone");
          const all = zones();
          // A browser may not list a name that the relay knows.
          const data = all.some(({ value }) => value === current)
            ? all
            : [{ value: current, label: current }, ...all];
          return (
            <ChoiceField
              form={form}
              name="time_zone"
              help="Used for the days of charts and for all times shown."
              data={data}
            />
          );
        }}
      >
        <Box mt="lg">
          <SiteName />
        </Box>
      </SettingsCard>
      <CopySettings />
      <DeleteSite />
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
    <Card
      title="Point the domain to Cleancast"
      about="The path /__cc/ of your own host must lead here. Browsers then treat it as first party and keep the visitor cookie for its full lifetime."
    >
      <Text size="sm" mb="sm">
        A proxy in front of the relay must forward requests for this domain, too. <b>Check now</b>, above,
        sends one through the proxy.
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

/** The site's name is not a setting, so it is saved on its own. */
function SiteName() {
  const site = useSite();
  return site ? <NameForm key={site.name} name={site.name} /> : <Loading rows={1} />;
}

function NameForm({ name }: { name: string }) {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const [text, setText] = useState(name);
  const { mutate, error, isPending } = useSend("PATCH /sites/:site", {
    onDone: () => notify("Site renamed."),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ params: { site }, body: { name: text } });
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          label="Site name"
          required
          maxLength={100}
          flex="1 1 200px"
          maw={400}
          disabled={!mayChange}
          value={text}
          error={fieldError(error, "name")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {mayChange && (
          <Button
            type="submit"
            variant="default"
            loading={isPending}
            disabled={!text.trim() || text.trim() === name}
          >
            Rename
          </Button>
        )}
      </Group>
      <RequestError error={otherError(error, "name")} />
    </form>
  );
}
