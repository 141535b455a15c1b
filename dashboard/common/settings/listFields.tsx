// Settings that are lists: words, countries, persons.

import { MultiSelect, TagsInput, Textarea } from "@mantine/core";
import { useState } from "react";
import { siteSettingsText } from "../../messages/siteSettings.ts";
import { hashIfEmail } from "../format/hashEmail.ts";
import { countryChoices } from "./countries.ts";
import { commonProps, type FieldProps } from "./settingFields.tsx";

const listOf = (text: string) => text.split(",").filter(Boolean);
/** Beyond this number, one tag per entry is slow to draw. */
const maxTags = 100;

export function ListField(props: FieldProps & { placeholder?: string; isPersons?: boolean }) {
  const { form, name, placeholder, isPersons = false } = props;
  const list = listOf(form.value(name));
  const [isLong] = useState(list.length > maxTags);
  const change = async (next: string[]) => {
    form.change(name, next.join(","));
    if (!isPersons || !next.some((one) => one.includes("@"))) return;
    form.change(name, (await Promise.all(next.map(hashIfEmail))).join(","));
  };
  if (isLong)
    return (
      <Textarea
        {...commonProps(props)}
        autosize
        minRows={4}
        maxRows={12}
        spellCheck={false}
        className="cc-number"
        value={form.value(name).replaceAll(",", "\n")}
        onChange={(event) => form.change(name, event.currentTarget.value.replaceAll(/[\n,]+/g, ","))}
        onBlur={(event) => void change(event.currentTarget.value.split(/[\n,]+/).filter(Boolean))}
      />
    );
  return (
    <TagsInput
      {...commonProps(props)}
      placeholder={list.length ? "" : (placeholder ?? "")}
      splitChars={[",", "\n"]}
      clearable={!form.isReadOnly}
      value={list}
      onChange={(next) => void change(next)}
    />
  );
}

export function CountriesField(props: FieldProps) {
  const { form, name } = props;
  return (
    <MultiSelect
      {...commonProps(props)}
      data={countryChoices()}
      searchable
      clearable
      limit={300}
      nothingFoundMessage={siteSettingsText.noCountry}
      value={listOf(form.value(name))}
      onChange={(next) => form.change(name, next.join(","))}
    />
  );
}
