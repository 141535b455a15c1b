// Searches for an order id, event id or email after a short pause, or at once with Enter.

import { CloseButton, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { hashEmails } from "../format/hashEmail.ts";

export function SearchField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const asked = useRef(value);
  const ask = async (text: string) => {
    asked.current = text;
    const hashed = await hashEmails(text);
    // The text has changed in the meantime.
    if (asked.current !== text) return;
    asked.current = hashed;
    onChange(hashed);
  };
  const later = useDebouncedCallback((text: string) => void ask(text), 400);
  useEffect(() => {
    // The URL changed: a link, or back.
    if (value !== asked.current) setTyped(value);
    asked.current = value;
  }, [value]);
  const askNow = (text: string) => {
    later.cancel();
    void ask(text);
  };
  return (
    <form
      role="search"
      aria-label={label}
      style={{ flex: "1 1 280px", minWidth: 0 }}
      onSubmit={(event) => {
        event.preventDefault();
        askNow(typed.trim());
      }}
    >
      <TextInput
        aria-label={label}
        placeholder="Order id, event id or email"
        description="Emails are hashed before the search."
        inputWrapperOrder={["label", "input", "description", "error"]}
        leftSection={<Search size={15} aria-hidden />}
        rightSection={
          typed && (
            <CloseButton
              size="sm"
              aria-label="Clear the search"
              onClick={() => {
                setTyped("");
                askNow("");
              }}
            />
          )
        }
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          later(currentTarget.value.trim());
        }}
        autoComplete="off"
        spellCheck={false}
        maxLength={400}
      />
    </form>
  );
}
