import { Anchor, SimpleGrid, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CountriesField, ListField } from "../../common/settings/listFields.tsx";
import { useSiteId } from "../../common/api/session.ts";
import { searchOfMode } from "../../common/lists/queryParams.ts";
import { SettingsCard, SiteSettings } from "../../common/settings/SettingsCard.tsx";
import { ScoreField, SwitchField } from "../../common/settings/settingFields.tsx";
import { ConfigurationPage } from "../frame/SectionPage.tsx";
import { configurationText } from "../../messages/configuration.ts";

const lists = [
  ["allow_user_agents", "our-uptime-monitor", "allowUserAgents"],
  ["deny_user_agents", "MyCrawler/*", "denyUserAgents"],
  ["allow_networks", "203.0.113.7", "allowNetworks"],
  ["deny_networks", "198.51.100.0/24", "denyNetworks"],
] as const;

export default function Traffic() {
  const site = useSiteId();
  return (
    <ConfigurationPage tab="traffic">
      <SiteSettings>
        <SettingsCard
          title={configurationText.traffic.score}
          about={configurationText.traffic.aboutScore}
          fields={(form) => <ScoreField form={form} name="bot_threshold" help={configurationText.traffic.threshold} />}
        />
        <SettingsCard
          title={configurationText.traffic.rules}
          about={configurationText.traffic.aboutRules}
          fields={(form) => (
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="md">
              {lists.map(([name, placeholder, help]) => (
                <ListField key={name} form={form} name={name} placeholder={placeholder} help={configurationText.traffic[help]} />
              ))}
              <CountriesField form={form} name="allow_countries" help={configurationText.traffic.allowCountries} />
              <CountriesField form={form} name="deny_countries" help={configurationText.traffic.denyCountries} />
            </SimpleGrid>
          )}
        />
        <SettingsCard
          title={configurationText.traffic.events}
          about={
            <>
              {configurationText.traffic.aboutEvents}{" "}
              <Anchor
                component={Link}
                to={`/sites/${site}/events`}
                search={{ status: "filtered", ...searchOfMode("live") } as never}
                size="sm"
                underline="always"
              >
                {configurationText.traffic.filteredEvents}
              </Anchor>
            </>
          }
          fields={(form) => (
            <>
              <SwitchField form={form} name="block_disposable" help={configurationText.traffic.disposable} />
              <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="md">
                <ListField form={form} name="block_domains" placeholder="example.com" help={configurationText.traffic.domains} />
                <div />
                <ListField
                  form={form}
                  name="block_persons"
                  isPersons
                  placeholder="ada@example.com"
                  help={configurationText.traffic.blockedPeople}
                />
                <ListField
                  form={form}
                  name="allow_persons"
                  isPersons
                  placeholder="ada@example.com"
                  help={configurationText.traffic.allowedPeople}
                />
              </SimpleGrid>
              <Text size="xs" c="dimmed">
                {configurationText.traffic.enter}
              </Text>
            </>
          )}
        />
      </SiteSettings>
    </ConfigurationPage>
  );
}
