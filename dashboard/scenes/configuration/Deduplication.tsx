import { Anchor, List, SimpleGrid, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Card } from "../../common/Page.tsx";
import { useSiteId } from "../../common/api/session.ts";
import { SettingsCard, SiteSettings } from "../../common/settings/SettingsCard.tsx";
import { DurationField } from "../../common/settings/settingFields.tsx";
import { ConfigurationPage } from "../frame/SectionPage.tsx";
import { configurationText } from "../../messages/configuration.ts";
import { RichText } from "../../common/format/RichText.tsx";

export default function Deduplication() {
  const site = useSiteId();
  return (
    <ConfigurationPage tab="deduplication">
      <SiteSettings>
        <SettingsCard
          title={configurationText.deduplication.title}
          about={configurationText.deduplication.about}
          fields={(form) => (
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
              <DurationField form={form} name="dedup_order" help={configurationText.deduplication.withOrder} />
              <DurationField form={form} name="dedup_no_order" help={configurationText.deduplication.withoutOrder} />
            </SimpleGrid>
          )}
        />
      </SiteSettings>
      <Card title={configurationText.deduplication.rules}>
        <List size="sm" spacing="xs">
          <List.Item>
            <RichText text={configurationText.deduplication.ruleWithOrder} tags={{ b: (content) => <b>{content}</b> }} />
          </List.Item>
          <List.Item>
            <RichText text={configurationText.deduplication.ruleWithoutOrder} tags={{ b: (content) => <b>{content}</b> }} />
          </List.Item>
          <List.Item>{configurationText.deduplication.ruleModes}</List.Item>
          <List.Item>
            <RichText
              text={configurationText.deduplication.ruleAnswer}
              tags={{ answer: () => <code>{'{"ok":true,"deduped":true}'}</code> }}
            />
          </List.Item>
        </List>
        <Text size="sm" mt="md">
          <Anchor component={Link} to={`/sites/${site}/overview`} size="sm">
            {configurationText.deduplication.chart}
          </Anchor>
        </Text>
      </Card>
    </ConfigurationPage>
  );
}
