import { Anchor, SimpleGrid, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CountriesField, ListField } from "../../../common/settings/listFields.tsx";
import { useSiteId } from "../../../common/api/session.ts";
import { SettingsCard } from "../../../common/settings/SettingsCard.tsx";
import { ScoreField, SwitchField } from "../../../common/settings/settingFields.tsx";
import { BotVisits } from "./BotVisits.tsx";
import { CheckVisit } from "./CheckVisit.tsx";
import { ConfigurationPage } from "../../frame/SectionPage.tsx";

export default function Traffic() {
  const site = useSiteId();
  return (
    <ConfigurationPage tab="traffic">
      <SettingsCard
        title="What counts as a bot"
        about="Each visit gets a score from its bot signals. Visitors are never blocked; data from bots is just not used."
        fields={(form) => (
          <ScoreField
            form={form}
            name="bot_threshold"
            help="Visits scoring at or above this value are treated as bots, if at least two kinds of evidence agree. A lower value removes more."
          />
        )}
      />
      <SettingsCard
        title="Allow and deny rules"
        about="Allow rules always take precedence over deny rules and bot signals."
        fields={(form) => (
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="md">
            <ListField
              form={form}
              name="allow_user_agents"
              placeholder="our-uptime-monitor"
              help="Parts of user agents that are never treated as bots, such as your own monitoring. * matches any text."
            />
            <ListField
              form={form}
              name="deny_user_agents"
              placeholder="MyCrawler/*"
              help="Parts of user agents that are always treated as bots. * matches any text."
            />
            <ListField
              form={form}
              name="allow_networks"
              placeholder="203.0.113.7"
              help="IP addresses and networks that are never treated as bots, such as your office."
            />
            <ListField
              form={form}
              name="deny_networks"
              placeholder="198.51.100.0/24"
              help="IP addresses and networks that are always treated as bots."
            />
            <CountriesField
              form={form}
              name="allow_countries"
              help="Visits from these countries are never treated as bots. Needs a country file (CLEANCAST_COUNTRY_FILE)."
            />
            <CountriesField
              form={form}
              name="deny_countries"
              help="Visits from these countries are always treated as bots. Needs a country file (CLEANCAST_COUNTRY_FILE)."
            />
          </SimpleGrid>
        )}
      />
      <SettingsCard
        title="Event filters"
        about={
          <>
            Filtered events are stored with their reason and not sent unless you release them.{" "}
            <Anchor
              component={Link}
              to={`/sites/${site}/events`}
              search={{ status: "filtered" } as never}
              size="sm"
              underline="always"
            >
              Filtered events
            </Anchor>
          </>
        }
        fields={(form) => (
          <>
            <SwitchField
              form={form}
              name="block_disposable"
              help="Events with an address of a disposable email service."
            />
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="md">
              <ListField
                form={form}
                name="block_domains"
                placeholder="example.com"
                help="Events with an address at these domains."
              />
              <div />
              <ListField
                form={form}
                name="block_persons"
                isPersons
                placeholder="ada@example.com"
                help="Events of these persons. Emails are hashed in your browser before they are stored."
              />
              <ListField
                form={form}
                name="allow_persons"
                isPersons
                placeholder="ada@example.com"
                help="Events of these persons are never filtered. Releasing an event adds its person here."
              />
            </SimpleGrid>
            <Text size="xs" c="dimmed">
              Press Enter or type a comma after each entry.
            </Text>
          </>
        )}
      />
      <CheckVisit />
      <BotVisits />
    </ConfigurationPage>
  );
}
