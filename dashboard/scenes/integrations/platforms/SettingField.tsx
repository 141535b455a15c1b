// One declared setting as a field. Secrets and addresses are write-only: saved values are never shown.

import { Button, Group, PasswordInput, Select, Switch, Text, Textarea, TextInput } from "@mantine/core";
import type { Setting } from "../connections.tsx";
import { ChoiceList } from "./ChoiceList.tsx";
import { RotateSecret } from "./RotateSecret.tsx";
import type { Editor } from "./editor.ts";
import { expirySetting } from "./signIn.ts";
import { integrationsText } from "../../../messages/integrations.ts";

/** The relay stores the time as Unix time in milliseconds. */
const fromLocalTime = (text: string): string => (text === "" ? "" : String(Date.parse(text)));

function toLocalTime(value: string): string {
  const at = Number(value);
  if (value === "" || !Number.isFinite(at)) return "";
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function SettingField({ editor, setting }: { editor: Editor; setting: Setting }) {
  const { draft, connection, mayChange } = editor;
  const { name, label, help, secret, address } = setting;
  const value = draft.valueOf(name);
  const saved = connection?.settings[name];
  const isSaved = saved !== undefined;
  const common = {
    label,
    description: help,
    name,
    value,
    error: editor.fault(name),
    ...(editor.fault(name) === null ? {} : { "aria-invalid": true as const }),
    disabled: !mayChange,
    withAsterisk: setting.required,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => draft.set(name, currentTarget.value),
    inputWrapperOrder: ["label", "input", "error", "description"] as ("label" | "input" | "error")[],
  };
  if (setting.values?.includes("on") && setting.values.includes("off"))
    return (
      <Switch
        label={label}
        description={help}
        name={name}
        error={common.error}
        disabled={!mayChange}
        checked={value === "on"}
        onChange={({ currentTarget }) => draft.set(name, currentTarget.checked ? "on" : "off")}
      />
    );
  if (name === expirySetting)
    return (
      <TextInput
        {...common}
        type="datetime-local"
        description={integrationsText.settings.aboutExpiry}
        value={toLocalTime(value)}
        onChange={({ currentTarget }) => draft.set(name, fromLocalTime(currentTarget.value))}
      />
    );
  if (secret || address) {
    const isRemoved = draft.changes[name] === "";
    const placeholder = isRemoved
      ? integrationsText.settings.willBeRemoved
      : isSaved
        ? address
          ? saved
          : integrationsText.settings.configured
        : "";
    const Input = secret ? PasswordInput : TextInput;
    return (
      <>
        <Input {...common} placeholder={placeholder} autoComplete="off" spellCheck={false} />
        {connection && isSaved && setting.signing && mayChange && <RotateSecret site={editor.site} connection={connection.id} />}
        {isSaved && !setting.required && !setting.signing && mayChange && (
          <RemoveSaved editor={editor} setting={setting} isRemoved={isRemoved} />
        )}
      </>
    );
  }
  if (setting.multiline) return <Textarea {...common} autosize minRows={3} maxRows={16} classNames={{ input: "cc-mono" }} />;
  if (setting.values)
    return (
      <Select
        {...common}
        data={setting.values}
        value={value || null}
        allowDeselect={false}
        onChange={(chosen) => chosen !== null && draft.set(name, chosen)}
      />
    );
  const placeholder = setting.default ?? "";
  if (!setting.choices || !mayChange)
    return <TextInput {...common} placeholder={placeholder} autoComplete="off" spellCheck={false} />;
  return (
    <TextInput
      {...common}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      inputContainer={(input) => (
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <div style={{ flex: 1 }}>{input}</div>
          <ChoiceList editor={editor} setting={name} label={label} onChoose={(chosen) => draft.set(name, chosen)} />
        </Group>
      )}
    />
  );
}

function RemoveSaved({
  editor: { draft },
  setting: { name, label },
  isRemoved,
}: {
  editor: Editor;
  setting: Setting;
  isRemoved: boolean;
}) {
  const isTyped = draft.changes[name] !== undefined && !isRemoved;
  if (isTyped) return null;
  return (
    <Group gap="xs" mt={-8}>
      <Text size="xs" c="dimmed">
        {isRemoved ? integrationsText.settings.removedOnSave : integrationsText.settings.neverShown}
      </Text>
      <Button
        variant="subtle"
        size="compact-xs"
        aria-label={isRemoved ? integrationsText.settings.keepOne(label) : integrationsText.settings.removeOne(label)}
        onClick={() => (isRemoved ? draft.keep(name) : draft.remove(name))}
      >
        {isRemoved ? integrationsText.settings.keep : integrationsText.settings.remove}
      </Button>
    </Group>
  );
}
