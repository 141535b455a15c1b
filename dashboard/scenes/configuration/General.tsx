// The site itself: its name and time zone, settings copied from another site, and its deletion.

import { Box, Button, Group, TextInput } from "@mantine/core";
import { Form } from "../../common/Form.tsx";
import { useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { useMay, useSite, useSiteId } from "../../common/api/session.ts";
import { zones } from "../../common/format/zones.ts";
import { fieldError, otherError } from "../../common/fields.ts";
import { notify } from "../../common/notices.tsx";
import { SettingsCard } from "../../common/settings/SettingsCard.tsx";
import { ChoiceField } from "../../common/settings/settingFields.tsx";
import { Loading, RequestError } from "../../common/states.tsx";
import { ConfigurationPage } from "../frame/SectionPage.tsx";
import { CopySettings } from "./domains/CopySettings.tsx";
import { DeleteSite } from "./domains/DeleteSite.tsx";
import { configurationText } from "../../messages/configuration.ts";

export default function General() {
  return (
    <ConfigurationPage tab="general">
      <SettingsCard
        title={configurationText.site.title}
        about={configurationText.site.about}
        fields={(form) => {
          const data = zones(form.value("time_zone"));
          return <ChoiceField form={form} name="time_zone" help={configurationText.site.timeZone} data={data} />;
        }}
      >
        <Box mt="lg">
          <SiteName />
        </Box>
      </SettingsCard>
      <CopySettings />
      <DeleteSite />
    </ConfigurationPage>
  );
}

/** The site's name is not a setting, so it is saved on its own. */
function SiteName() {
  const site = useSite();
  return site ? <NameForm key={site.name} name={site.name} /> : <Loading rows={1} />;
}

function NameForm({ name }: { name: string }) {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const [text, setText] = useState(name);
  const { mutate, error, isPending } = useSend("PATCH /sites/:site", {
    onDone: () => notify(configurationText.site.renamed),
  });
  return (
    <Form onSubmit={() => mutate({ params: { site }, body: { name: text } })}>
      <Group align="flex-end" gap="xs">
        <TextInput
          label={configurationText.site.name}
          required
          maxLength={100}
          flex="1 1 200px"
          maw={400}
          disabled={!mayChange}
          value={text}
          error={fieldError(error, "name")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {mayChange && (
          <Button type="submit" variant="default" loading={isPending} disabled={!text.trim() || text.trim() === name}>
            {configurationText.site.rename}
          </Button>
        )}
      </Group>
      <RequestError error={otherError(error, "name")} />
    </Form>
  );
}
