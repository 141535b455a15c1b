// A filter that came with a link: it is shown and can be removed.

import { Button } from "@mantine/core";
import { X } from "lucide-react";

/** `text` is blank when nothing is filtered by it. */
export function FilterChip({ text, onRemove }: { text: string; onRemove: () => void }) {
  if (!text) return null;
  return (
    <Button
      variant="light"
      rightSection={<X size={14} aria-hidden />}
      aria-label={`${text}. Remove this filter`}
      onClick={onRemove}
    >
      {text}
    </Button>
  );
}
