// The form control for each kind of setting. The relay reads all of them as text.

import { Anchor, Group, Input, NumberInput, Select, Slider, Stack, Switch, Text } from "@mantine/core";
import { useId, type ReactNode } from "react";
import { commonText } from "../../messages/common.ts";
import { siteSettingsText } from "../../messages/siteSettings.ts";
import type { SettingsForm } from "./SettingsCard.tsx";
import { settingName, settingText, type Unit } from "./settingNames.ts";

export type FieldProps = { form: SettingsForm; name: string; help: ReactNode; label?: string };

/** Shows the help text, the default value, and a button that resets the field to it. */
export function Hint({ form, name, help }: FieldProps) {
  const standard = form.defaultValue(name);
  const isStandard = form.value(name) === standard;
  // A field whose default is nothing loses what was entered.
  const isRemoved = standard === "" || standard === "none";
  return (
    <>
      {help} {standard !== "" && siteSettingsText.default(settingText(standard))}{" "}
      {!isStandard && !form.isReadOnly && (
        <Anchor
          component="button"
          type="button"
          size="xs"
          aria-label={(isRemoved ? siteSettingsText.removeOne : siteSettingsText.resetOne)(settingName(name))}
          onClick={() => form.change(name, standard)}
        >
          {isRemoved ? siteSettingsText.remove : siteSettingsText.reset}
        </Anchor>
      )}
    </>
  );
}

/** Puts help below the input, so that help texts of different length do not misalign adjacent fields. */
const helpBelow: ("label" | "input" | "description" | "error")[] = ["label", "input", "description", "error"];

export const commonProps = ({ form, name, help, label }: FieldProps) => ({
  label: label ?? settingName(name),
  description: <Hint form={form} name={name} help={help} />,
  error: form.fault(name),
  disabled: form.isReadOnly,
  inputWrapperOrder: helpBelow,
});

const maxWidth = 480;

export function DurationField(props: FieldProps & { units?: readonly Unit[] }) {
  const { form, name, units = ["d", "h", "m", "s"] } = props;
  const [, amount = "", unit = "d"] = /^(\d*)([dhms])$/.exec(form.value(name)) ?? [];
  const id = useId();
  const { label, ...rest } = commonProps(props);
  return (
    <Input.Wrapper {...rest} id={id} label={label}>
      <Group gap="xs" align="flex-start" wrap="nowrap" mb={5}>
        <NumberInput
          id={id}
          aria-describedby={`${id}-description`}
          error={rest.error !== undefined && rest.error !== null}
          disabled={rest.disabled}
          flex={1}
          min={1}
          allowDecimal={false}
          allowNegative={false}
          value={amount}
          onChange={(value) => form.change(name, `${value}${unit}`)}
        />
        <Select
          aria-label={siteSettingsText.unitOf(label)}
          w={112}
          data={units.map((one) => ({ value: one, label: siteSettingsText.units[one] }))}
          value={unit}
          allowDeselect={false}
          disabled={form.isReadOnly}
          onChange={(value) => form.change(name, `${amount}${value ?? unit}`)}
        />
      </Group>
    </Input.Wrapper>
  );
}

function switchProps(props: FieldProps) {
  const { inputWrapperOrder: _, ...rest } = commonProps(props);
  return rest;
}

export function SwitchField(props: FieldProps) {
  const { form, name } = props;
  return (
    <Switch
      {...switchProps(props)}
      checked={form.value(name) === "on"}
      onChange={(event) => form.change(name, event.currentTarget.checked ? "on" : "off")}
    />
  );
}

/** A number; an empty field means off. */
export function NumberOrOffField(props: FieldProps & { min?: number; max?: number; suffix?: string }) {
  const { form, name, min = 1, max, suffix } = props;
  const value = form.value(name);
  return (
    <NumberInput
      {...commonProps(props)}
      maw={maxWidth}
      placeholder={siteSettingsText.off}
      min={min}
      {...(max === undefined ? {} : { max })}
      {...(suffix ? { suffix } : {})}
      allowDecimal={false}
      allowNegative={false}
      value={value === "off" ? "" : value}
      onChange={(next) => form.change(name, next === "" ? "off" : String(next))}
    />
  );
}

export function ScoreField(props: FieldProps) {
  const { form, name } = props;
  const { label, description, error, disabled } = commonProps(props);
  const value = Number(form.value(name)) || 1;
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600} id={`${name}-label`}>
        {label}
      </Text>
      <Text size="xs" c="dimmed" component="div">
        {description}
      </Text>
      <Group gap="md" wrap="nowrap" pb="md">
        <Slider
          flex={1}
          min={1}
          max={100}
          value={value}
          label={null}
          disabled={disabled}
          thumbLabel={label}
          marks={[
            { value: 1, label: "1" },
            { value: 60, label: "60" },
            { value: 100, label: "100" },
          ]}
          onChange={(next) => form.change(name, String(next))}
        />
        <NumberInput
          aria-labelledby={`${name}-label`}
          w={88}
          min={1}
          max={100}
          allowDecimal={false}
          disabled={disabled}
          value={value}
          onChange={(next) => form.change(name, String(next))}
        />
      </Group>
      {error && (
        <Text size="xs" c="red" role="alert">
          {error}
        </Text>
      )}
    </Stack>
  );
}

export function ChoiceField(props: FieldProps & { data: readonly { value: string; label: string }[] }) {
  const { form, name, data } = props;
  return (
    <Select
      {...commonProps(props)}
      maw={maxWidth}
      data={[...data]}
      searchable
      // Typing replaces the selected name.
      onFocus={(event) => event.currentTarget.select()}
      limit={100}
      allowDeselect={false}
      nothingFoundMessage={commonText.nothingFound}
      value={form.value(name)}
      onChange={(value) => value !== null && form.change(name, value)}
    />
  );
}
