// The site itself: its name and time zone, settings copied from another site, and its deletion.

import { TextInput } from "@mantine/core";
import { zones } from "../../common/format/zones.ts";
import { SettingsCard, siteName, SiteSettings } from "../../common/settings/SettingsCard.tsx";
import { ChoiceField } from "../../common/settings/settingFields.tsx";
import { ConfigurationPage } from "../frame/SectionPage.tsx";
import { CopySettings } from "./domains/CopySettings.tsx";
import { DeleteSite } from "./domains/DeleteSite.tsx";
import { configurationText } from "../../messages/configuration.ts";

export default function General() {
  return (
    <ConfigurationPage tab="general">
      <SiteSettings>
        <SettingsCard
          title={configurationText.site.title}
          about={configurationText.site.about}
          fields={(form) => (
            <>
              <TextInput
                label={configurationText.site.name}
                name={siteName}
                required
                maxLength={100}
                maw={480}
                disabled={form.isReadOnly}
                value={form.value(siteName)}
                error={form.fault(siteName)}
                onChange={({ currentTarget }) => form.change(siteName, currentTarget.value)}
              />
              <ChoiceField
                form={form}
                name="time_zone"
                help={configurationText.site.timeZone}
                data={zones(form.value("time_zone"))}
              />
            </>
          )}
        />
      </SiteSettings>
      <CopySettings />
      <DeleteSite />
    </ConfigurationPage>
  );
}
