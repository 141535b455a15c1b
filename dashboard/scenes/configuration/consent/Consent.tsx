import { Radio, SimpleGrid, Stack } from "@mantine/core";
import { countryChoices } from "../../../common/settings/countries.ts";
import { useMay, useSiteId } from "../../../common/api/session.ts";
import { SettingsCard } from "../../../common/settings/SettingsCard.tsx";
import { ChoiceField, DurationField, Hint } from "../../../common/settings/settingFields.tsx";
import { ConfigurationPage } from "../../frame/SectionPage.tsx";
import { FindPerson } from "./FindPerson.tsx";

const countries = () => [{ value: "none", label: "None: such numbers are not used" }, ...countryChoices()];

export default function Consent() {
  const site = useSiteId();
  const mayFind = useMay("admin", site);
  return (
    <ConfigurationPage tab="consent">
      <SettingsCard
        title="Consent"
        about="Decisions come from your consent banner (IAB TCF, Google Consent Mode, cc.consent) and from browsers that ask not to be tracked. The most restrictive one applies."
        fields={(form) => (
          <Radio.Group
            label="When identifiers are used"
            value={form.value("consent_mode")}
            onChange={(value) => form.change("consent_mode", value)}
            error={form.fault("consent_mode")}
            description={
              <Hint
                form={form}
                name="consent_mode"
                help="Conversions are sent in any case; this setting is about click ids and hashes."
              />
            }
          >
            <Stack gap="sm" mt="sm">
              <Radio
                value="opt-out"
                disabled={form.isReadOnly}
                label="Opt-out: use identifiers unless the person refuses"
                description="Click ids and visits are stored from the first page view. A refusal deletes them and applies to all devices of that person."
              />
              <Radio
                value="opt-in"
                disabled={form.isReadOnly}
                label="Opt-in: use identifiers only after the person agrees"
                description="Nothing is sent, stored or set as a cookie before that. Conversions of people who did not agree are sent without identifiers."
              />
            </Stack>
          </Radio.Group>
        )}
      />
      <SettingsCard
        title="Retention"
        about="Older data is deleted in the background."
        fields={(form) => (
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
            <DurationField
              form={form}
              name="keep"
              units={["d"]}
              help="Conversions can be matched to a click for this long. 1 to 400 days."
            />
            <DurationField
              form={form}
              name="keep_events"
              units={["d"]}
              help="Together with their deliveries. Waiting deliveries and statistics are kept. 1 to 400 days."
            />
            <DurationField
              form={form}
              name="keep_log"
              units={["d"]}
              help="Request and response texts in the sync log. The attempts themselves are kept. 1 to 400 days."
            />
          </SimpleGrid>
        )}
      />
      <SettingsCard
        title="Phone numbers"
        fields={(form) => (
          <ChoiceField
            form={form}
            name="country"
            help="Phone numbers without a country code are assumed to be from this country."
            data={countries()}
          />
        )}
      />
      {mayFind && <FindPerson />}
    </ConfigurationPage>
  );
}
