import { Button } from "@mantine/core";
import { Download } from "lucide-react";
import { commonText } from "../../messages/common.ts";

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
      aria-label={commonText.list.csvOf(of)}
    >
      {commonText.list.csv}
    </Button>
  );
}
