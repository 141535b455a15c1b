import { Anchor, List, SimpleGrid, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Card } from "../../common/Page.tsx";
import { useSiteId } from "../../common/api/session.ts";
import { SettingsCard } from "../../common/settings/SettingsCard.tsx";
import { DurationField } from "../../common/settings/settingFields.tsx";
import { ConfigurationPage } from "../frame/SectionPage.tsx";

export default function Deduplication() {
  const site = useSiteId();
  return (
    <ConfigurationPage tab="deduplication">
      <SettingsCard
        title="Deduplication window"
        about="Shops and CRMs often report a conversion twice. The second report is acknowledged, but neither counted as a conversion nor sent."
        fields={(form) => (
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
            <DurationField
              form={form}
              name="dedup_order"
              help="The order id identifies the sale, so this can be long."
            />
            <DurationField
              form={form}
              name="dedup_no_order"
              help="A person may buy the same thing twice, so keep this short."
            />
          </SimpleGrid>
        )}
      />
      <Card title="When two events are duplicates">
        <List size="sm" spacing="xs">
          <List.Item>
            <b>With an order id:</b> the event name, the order id and the email are the same.
          </List.Item>
          <List.Item>
            <b>Without one:</b> the event name, the email, the value, the currency and the time of the event
            are the same.
          </List.Item>
          <List.Item>Events of live and test keys are never duplicates of each other.</List.Item>
          <List.Item>
            Of two that arrive at the same moment, exactly one goes on. The sender of the other gets{" "}
            <code>{'{"ok":true,"deduped":true}'}</code>.
          </List.Item>
        </List>
        <Text size="sm" mt="md">
          <Anchor component={Link} to={`/sites/${site}/overview`} size="sm">
            Duplicates over time, on the overview
          </Anchor>
        </Text>
      </Card>
    </ConfigurationPage>
  );
}
