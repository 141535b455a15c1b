// Creates a source. Its page then shows the address, and asks for the secret that the sender shows.

import { List, Text, TextInput } from "@mantine/core";
import { send } from "../../common/api/query.ts";
import { DialogForm, FormModal } from "../../common/FormDialog.tsx";
import { useForm } from "../../common/forms/useForm.ts";
import { notify } from "../../common/notices.tsx";
import { sourcesText } from "../../messages/sources.ts";
import { Fold } from "../integrations/platforms/SettingsForm.tsx";
import { KindField } from "./KindField.tsx";
import type { Kind } from "./kinds.ts";
import { rememberSecrets } from "./parts.tsx";

type Props = { site: string; onClose: () => void; onAdded: (source: string) => void };

export function AddSource({ kind, ...rest }: Props & { kind: Kind | null }) {
  return (
    <FormModal opened={kind !== null} onClose={rest.onClose} title={kind ? sourcesText.addOne(kind.name) : ""}>
      {kind && <Form kind={kind} {...rest} />}
    </FormModal>
  );
}

function Form({ site, kind, onClose, onAdded }: Props & { kind: Kind }) {
  // Secrets follow on the page of the source.
  const asked = kind.settings.filter(({ required, secret }) => required && !secret);
  const values: Record<string, string> = Object.fromEntries([["name", kind.name], ...asked.map((one) => [one.name, ""])]);
  const form = useForm({
    values,
    save: ({ name = "", ...settings }) =>
      send("POST /sites/:site/sources", { params: { site }, body: { kind: kind.id, name, settings } }),
    onDone: ({ source, newSecrets }) => {
      rememberSecrets(source.id, newSecrets);
      notify(sourcesText.page.created(source.name));
      onAdded(source.id);
    },
  });
  const secret = kind.settings.find((one) => one.required && one.secret);
  return (
    <DialogForm form={form} submit={sourcesText.form.create} onClose={onClose}>
      <Text size="sm">{kind.about}</Text>
      <TextInput
        {...form.text("name")}
        label={sourcesText.form.name}
        description={sourcesText.form.aboutName}
        data-autofocus
        maxLength={100}
        autoComplete="off"
      />
      {asked.map((setting) => (
        <KindField
          key={setting.name}
          setting={setting}
          value={form.values[setting.name] ?? ""}
          error={form.fault(setting.name)}
          onChange={(value) => form.set(setting.name, value)}
        />
      ))}
      {secret && (
        <Text size="sm" c="dimmed">
          {secret.generated ? sourcesText.form.secretMade : sourcesText.form.secretLater}
        </Text>
      )}
      {kind.rules.length > 0 && (
        <Fold label={sourcesText.form.becomes} isOpen={false}>
          <List size="sm" spacing={4} pr="md">
            {kind.rules.map((rule) => (
              <List.Item key={rule.name}>
                {rule.name}: {givesText(rule.gives)}
              </List.Item>
            ))}
          </List>
        </Fold>
      )}
    </DialogForm>
  );
}

/** A rule says `ignored: REASON`, or what it gives. */
function givesText(gives: string): string {
  const words: Readonly<Record<string, string>> = sourcesText.form.gives;
  return words[gives.startsWith("ignored") ? "ignore" : gives] ?? gives;
}
