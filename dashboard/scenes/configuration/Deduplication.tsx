import { Anchor, List, SimpleGrid, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Card } from "../../common/Page.tsx";
import { useSiteId } from "../../common/session.tsx";
import { SettingsCard } from "../../common/SettingsCard.tsx";
import { DurationField } from "../../common/settingFields.tsx";
import { ConfigurationPage } from "./ConfigurationPage.tsx";

export default function Deduplication() {
  const site = useSiteId();
  return (
    <ConfigurationPage tab="deduplication">
      <SettingsCard
        title="How long an event counts as the same"
        about="Shops and CRMs often report a conversion twice. The second report is answered, and neither counted nor sent."
        fields={(form) => (
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
            <DurationField
              form={form}
              name="dedup_order"
              help="The order id says that it is the same sale, so this may be long."
            />
            <DurationField
              form={form}
              name="dedup_no_order"
              help="Somebody may really buy the same thing twice, so keep this short."
            />
          </SimpleGrid>
        )}
      />
      <Card title="What makes two events the same">
        <List size="sm" spacing="xs">
          <List.Item>
            <b>With an order id:</b> the event name, the order id and the email are the same.
          </List.Item>
          <List.Item>
            <b>Without one:</b> the event name, the email, the value, the currency and the time of the event
            are the same.
          </List.Item>
          <List.Item>Events of live and of test keys are never taken for the same.</List.Item>
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
