import { Button } from "@mantine/core";
import { Download } from "lucide-react";

/** A list as a table to take along; in a card's corner. */
export function CsvButton({ href, of }: { href: string; of: string }) {
  return (
    <Button
      component="a"
      href={href}
      download
      size="compact-sm"
      variant="default"
      leftSection={<Download size={14} />}
      aria-label={`CSV of ${of}`}
    >
      CSV
    </Button>
  );
}
