import { Box } from "@mantine/core";
import { SettingsCard } from "../../../common/settings/SettingsCard.tsx";
import { ChoiceField } from "../../../common/settings/settingFields.tsx";
import { ConfigurationPage } from "../../frame/SectionPage.tsx";
import { CopySettings } from "./CopySettings.tsx";
import { Hosts } from "./Hosts.tsx";
import { PointHere } from "./PointHere.tsx";
import { SiteName } from "./SiteName.tsx";

const zones = () =>
  ["UTC", ...Intl.supportedValuesOf("timeZone")].map((value) => ({
    value,
    label: value.replaceAll("_", " "),
  }));

export default function Domains() {
  return (
    <ConfigurationPage tab="domains">
      <Hosts />
      <PointHere />
      <SettingsCard
        title="Site"
        about="The site's name in the dashboard and in alerts, and its time zone."
        fields={(form) => {
          const now = form.value("time_zone");
          const all = zones();
          // A browser may not list a name that the relay knows.
          const data = all.some(({ value }) => value === now) ? all : [{ value: now, label: now }, ...all];
          return (
            <ChoiceField
              form={form}
              name="time_zone"
              help="Used for the days of charts and for all times shown."
              data={data}
            />
          );
        }}
      >
        <Box mt="lg">
          <SiteName />
        </Box>
      </SettingsCard>
      <CopySettings />
    </ConfigurationPage>
  );
}
