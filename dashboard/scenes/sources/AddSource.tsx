// Creates a source. Its page then shows the address, and asks for the secret that the sender shows.

import { List, Modal, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { DialogForm } from "../../common/FormDialog.tsx";
import { fieldError, otherError } from "../../common/fields.ts";
import { notify } from "../../common/notices.tsx";
import { sourcesText } from "../../messages/sources.ts";
import { Fold } from "../integrations/platforms/SettingsForm.tsx";
import { KindField } from "./KindField.tsx";
import type { Kind } from "./kinds.ts";
import { rememberSecrets } from "./parts.tsx";

type Props = { site: string; onClose: () => void; onAdded: (source: string) => void };

export function AddSource({ kind, ...rest }: Props & { kind: Kind | null }) {
  return (
    <Modal opened={kind !== null} onClose={rest.onClose} title={kind ? sourcesText.addOne(kind.name) : ""}>
      {kind && <Form kind={kind} {...rest} />}
    </Modal>
  );
}

function Form({ site, kind, onClose, onAdded }: Props & { kind: Kind }) {
  const [name, setName] = useState(kind.name);
  const [settings, setSettings] = useState<Record<string, string>>({});
  const add = useSend("POST /sites/:site/sources", {
    onDone: ({ source, newSecrets }) => {
      rememberSecrets(source.id, newSecrets);
      notify(sourcesText.page.created(source.name));
      onAdded(source.id);
    },
  });
  // Secrets follow on the page of the source.
  const asked = kind.settings.filter(({ required, secret }) => required && !secret);
  const secret = kind.settings.find((one) => one.required && one.secret);
  return (
    <DialogForm
      submit={sourcesText.form.create}
      onSubmit={() => add.mutate({ params: { site }, body: { kind: kind.id, name, settings } })}
      onClose={onClose}
      isBusy={add.isPending}
      error={otherError(add.error, "name", ...asked.map((one) => one.name))}
      noValidate
    >
      <Text size="sm">{kind.about}</Text>
      <TextInput
        label={sourcesText.form.name}
        description={sourcesText.form.aboutName}
        data-autofocus
        maxLength={100}
        autoComplete="off"
        value={name}
        error={fieldError(add.error, "name")}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {asked.map((setting) => (
        <KindField
          key={setting.name}
          setting={setting}
          value={settings[setting.name] ?? ""}
          error={fieldError(add.error, setting.name)}
          onChange={(value) => setSettings((all) => ({ ...all, [setting.name]: value }))}
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
