// One declared setting of a kind as a field. Secrets are write-only.

import { PasswordInput, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { sourcesText } from "../../messages/sources.ts";
import type { KindSetting } from "./kinds.ts";
import { Marked } from "./parts.tsx";

export function KindField({
  setting,
  value,
  error,
  isSaved = false,
  disabled = false,
  suggestions,
  onChange,
  onFocus,
}: {
  setting: KindSetting;
  value: string;
  error: string | null;
  /** A secret that is configured shows so. */
  isSaved?: boolean;
  disabled?: boolean;
  /** The id of the list that a mapped field suggests. */
  suggestions?: string;
  onChange: (value: string) => void;
  onFocus?: () => void;
}) {
  const { name, label, help, secret, choices } = setting;
  const common = {
    label,
    name,
    error,
    disabled,
    withAsterisk: setting.required,
    description: <Marked text={help} />,
    inputWrapperOrder: ["label", "input", "error", "description"] as ("label" | "input" | "error" | "description")[],
  };
  const typed = {
    ...common,
    value,
    autoComplete: "off",
    spellCheck: false,
    ...(onFocus ? { onFocus } : {}),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value),
  };
  if (secret) return <PasswordInput {...typed} placeholder={isSaved ? sourcesText.settings.configured : ""} />;
  if (choices && choices.length === 2 && choices.includes("on") && choices.includes("off"))
    return (
      <Switch
        label={label}
        name={name}
        description={common.description}
        error={error}
        disabled={disabled}
        checked={value === "on"}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? "on" : "off")}
      />
    );
  if (choices)
    return (
      <Select {...common} allowDeselect={false} data={choices} value={value} onChange={(chosen) => chosen && onChange(chosen)} />
    );
  const placeholder = setting.default ?? "";
  const mono = setting.mapping ? { classNames: { input: "cc-mono" } } : {};
  const list = setting.mapping === "expression" && suggestions !== undefined ? { list: suggestions } : {};
  if (setting.multiline) return <Textarea {...typed} {...mono} placeholder={placeholder} autosize minRows={2} maxRows={10} />;
  return <TextInput {...typed} {...mono} {...list} placeholder={placeholder} />;
}
