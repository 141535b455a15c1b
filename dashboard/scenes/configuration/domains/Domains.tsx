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
import { configurationText } from "../../../messages/configuration.ts";
import { RichText } from "../../../messages/RichText.tsx";

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
        title={configurationText.site.title}
        about={configurationText.site.about}
        fields={(form) => {
          const current = form.value("time_zone");
          const all = zones();
          // A browser may not list a name that the relay knows.
          const data = all.some(({ value }) => value === current)
            ? all
            : [{ value: current, label: current }, ...all];
          return (
            <ChoiceField form={form} name="time_zone" help={configurationText.site.timeZone} data={data} />
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
            <Code
              label={configurationText.pointHere.dnsRecord}
            >{`cc.${host.replace(/^www\./, "")}.  CNAME  ${target}.`}</Code>
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
    onDone: () => notify(configurationText.site.renamed),
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
          label={configurationText.site.name}
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
            {configurationText.site.rename}
          </Button>
        )}
      </Group>
      <RequestError error={otherError(error, "name")} />
    </form>
  );
}
