import { Anchor, SimpleGrid, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { CountriesField, ListField } from "../../common/listFields.tsx";
import { useSiteId } from "../../common/session.tsx";
import { SettingsCard } from "../../common/SettingsCard.tsx";
import { ScoreField, SwitchField } from "../../common/settingFields.tsx";
import { BotVisits } from "./BotVisits.tsx";
import { CheckVisit } from "./CheckVisit.tsx";
import { ConfigurationPage } from "./ConfigurationPage.tsx";

export default function Traffic() {
  const site = useSiteId();
  return (
    <ConfigurationPage tab="traffic">
      <SettingsCard
        title="What counts as a bot"
        about="Every visit gets a score from what speaks for a bot. Nobody is blocked: what a bot left behind is just not used."
        fields={(form) => (
          <ScoreField
            form={form}
            name="bot_threshold"
            help="From this score on a visit is taken for a bot's, if at least two kinds of evidence speak for it. A lower number removes more."
          />
        )}
      />
      <SettingsCard
        title="Visits that you know"
        about="Letting pass always wins: over your own lists, and over everything else that speaks for a bot."
        fields={(form) => (
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="md">
            <ListField
              form={form}
              name="allow_user_agents"
              placeholder="our-uptime-monitor"
              help="Parts of user agents that are never a bot's, such as your own monitoring. * stands for anything."
            />
            <ListField
              form={form}
              name="deny_user_agents"
              placeholder="MyCrawler/*"
              help="Parts of user agents that are always a bot's. * stands for anything."
            />
            <ListField
              form={form}
              name="allow_networks"
              placeholder="203.0.113.7"
              help="Addresses and networks whose visits are never a bot's, such as your office."
            />
            <ListField
              form={form}
              name="deny_networks"
              placeholder="198.51.100.0/24"
              help="Addresses and networks whose visits are always a bot's."
            />
            <CountriesField
              form={form}
              name="allow_countries"
              help="Visits from there are never a bot's. Needs a country file (CLEANCAST_COUNTRY_FILE)."
            />
            <CountriesField
              form={form}
              name="deny_countries"
              help="Visits from there are always a bot's. Needs a country file (CLEANCAST_COUNTRY_FILE)."
            />
          </SimpleGrid>
        )}
      />
      <SettingsCard
        title="Events that are filtered"
        about={
          <>
            A filtered event is stored with its reason and sent nowhere, until somebody releases it.{" "}
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
              help="Events of addresses from services that hand out throw-away mailboxes."
            />
            <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="md">
              <ListField
                form={form}
                name="block_domains"
                placeholder="example.com"
                help="Events of these email domains."
              />
              <div />
              <ListField
                form={form}
                name="block_persons"
                isPersons
                placeholder="ada@example.com"
                help="Events of these persons. An email is hashed in your browser before it is kept."
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
              Lists take one entry per Enter or comma.
            </Text>
          </>
        )}
      />
      <CheckVisit />
      <BotVisits />
    </ConfigurationPage>
  );
}
