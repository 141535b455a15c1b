// Searches for an order id, event id or email after a short pause, or immediately with Enter.

import { CloseButton, TextInput } from "@mantine/core";
import { Form } from "../Form.tsx";
import { useDebouncedCallback } from "@mantine/hooks";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { hashIfEmail } from "../format/hashEmail.ts";
import { commonText } from "../../messages/common.ts";

export function SearchField({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const latest = useRef(value);
  const search = async (text: string) => {
    latest.current = text;
    const hashed = await hashIfEmail(text);
    // The text has changed in the meantime.
    if (latest.current !== text) return;
    latest.current = hashed;
    onChange(hashed);
  };
  const searchSoon = useDebouncedCallback((text: string) => void search(text), 400);
  useEffect(() => {
    // The URL changed through a link or the back button.
    if (value !== latest.current) setTyped(value);
    latest.current = value;
  }, [value]);
  const searchNow = (text: string) => {
    searchSoon.cancel();
    void search(text);
  };
  return (
    <Form role="search" aria-label={label} style={{ flex: "1 1 220px", minWidth: 0 }} onSubmit={() => searchNow(typed.trim())}>
      <TextInput
        aria-label={label}
        placeholder={commonText.list.searchHint}
        description={commonText.list.hashed}
        inputWrapperOrder={["label", "input", "description", "error"]}
        leftSection={<Search size={15} aria-hidden />}
        rightSection={
          typed && (
            <CloseButton
              size="sm"
              aria-label={commonText.list.clearSearch}
              onClick={() => {
                setTyped("");
                searchNow("");
              }}
            />
          )
        }
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          searchSoon(currentTarget.value.trim());
        }}
        autoComplete="off"
        spellCheck={false}
        maxLength={400}
      />
    </Form>
  );
}
