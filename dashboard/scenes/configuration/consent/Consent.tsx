import { Radio, SimpleGrid, Stack } from "@mantine/core";
import { countryChoices } from "../../../common/settings/countries.ts";
import { useMay, useSiteId } from "../../../common/api/session.ts";
import { SettingsCard, SiteSettings } from "../../../common/settings/SettingsCard.tsx";
import { ChoiceField, DurationField, Hint } from "../../../common/settings/settingFields.tsx";
import { ConfigurationPage } from "../../frame/SectionPage.tsx";
import { FindPerson } from "./FindPerson.tsx";
import { configurationText } from "../../../messages/configuration.ts";

const countries = () => [{ value: "none", label: configurationText.consent.noCountry }, ...countryChoices()];

export default function Consent() {
  const site = useSiteId();
  const mayFind = useMay("admin", site);
  return (
    <ConfigurationPage tab="consent">
      <SiteSettings>
        <SettingsCard
          title={configurationText.consent.title}
          about={configurationText.consent.about}
          fields={(form) => (
            <Radio.Group
              label={configurationText.consent.mode}
              value={form.value("consent_mode")}
              onChange={(value) => form.change("consent_mode", value)}
              error={form.fault("consent_mode")}
              description={<Hint form={form} name="consent_mode" help={configurationText.consent.aboutMode} />}
            >
              <Stack gap="sm" mt="sm">
                <Radio
                  value="opt-out"
                  disabled={form.isReadOnly}
                  label={configurationText.consent.optOut}
                  description={configurationText.consent.aboutOptOut}
                />
                <Radio
                  value="opt-in"
                  disabled={form.isReadOnly}
                  label={configurationText.consent.optIn}
                  description={configurationText.consent.aboutOptIn}
                />
              </Stack>
            </Radio.Group>
          )}
        />
        <SettingsCard
          title={configurationText.consent.retention}
          about={configurationText.consent.aboutRetention}
          fields={(form) => (
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
              <DurationField form={form} name="keep" units={["d"]} help={configurationText.consent.keepVisits} />
              <DurationField form={form} name="keep_events" units={["d"]} help={configurationText.consent.keepEvents} />
              <DurationField form={form} name="keep_log" units={["d"]} help={configurationText.consent.keepLog} />
            </SimpleGrid>
          )}
        />
        <SettingsCard
          title={configurationText.consent.phones}
          fields={(form) => (
            <ChoiceField form={form} name="country" help={configurationText.consent.aboutCountry} data={countries()} />
          )}
        />
      </SiteSettings>
      {mayFind && <FindPerson />}
    </ConfigurationPage>
  );
}
