import { Button } from "@mantine/core";
import { Download } from "lucide-react";

/** Downloads a list as CSV. */
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
