import { Radio, SimpleGrid, Stack } from "@mantine/core";
import { countryChoices } from "../../common/countries.ts";
import { useMay, useSiteId } from "../../common/session.tsx";
import { SettingsCard } from "../../common/SettingsCard.tsx";
import { ChoiceField, DurationField, Hint } from "../../common/settingFields.tsx";
import { ConfigurationPage } from "./ConfigurationPage.tsx";
import { FindPerson } from "./FindPerson.tsx";

const countries = () => [{ value: "none", label: "None: such numbers are not used" }, ...countryChoices()];

export default function Consent() {
  const site = useSiteId();
  const mayFind = useMay("admin", site);
  return (
    <ConfigurationPage tab="consent">
      <SettingsCard
        title="Consent"
        about="Decisions come from your consent banner (IAB TCF, Google Consent Mode, cc.consent) and from browsers that ask not to be tracked. The most restrictive one counts."
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
                help="Conversions go out in any case; this is about click ids and hashes."
              />
            }
          >
            <Stack gap="sm" mt="sm">
              <Radio
                value="opt-out"
                disabled={form.isReadOnly}
                label="Opt-out: until somebody refuses"
                description="Click ids and visits are kept from the first page on. A refusal removes them, and holds on every device of that person."
              />
              <Radio
                value="opt-in"
                disabled={form.isReadOnly}
                label="Opt-in: only after somebody agreed"
                description="Nothing is stored and no cookie is set before. Conversions of people who did not agree go out without identifiers."
              />
            </Stack>
          </Radio.Group>
        )}
      />
      <SettingsCard
        title="How long things are kept"
        about="What is older is deleted in the background."
        fields={(form) => (
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
            <DurationField
              form={form}
              name="keep"
              units={["d"]}
              help="A conversion finds its click for this long. 1 to 400 days."
            />
            <DurationField
              form={form}
              name="keep_events"
              units={["d"]}
              help="With their deliveries. What still waits to be sent stays, and so do the numbers. 1 to 400 days."
            />
            <DurationField
              form={form}
              name="keep_log"
              units={["d"]}
              help="The texts in the sync log. That there was an attempt stays. 1 to 400 days."
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
            help="Numbers without a country code are read as of this country, and then hashed."
            data={countries()}
          />
        )}
      />
      {mayFind && <FindPerson />}
    </ConfigurationPage>
  );
}
