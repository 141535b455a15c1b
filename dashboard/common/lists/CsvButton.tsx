import { Button } from "@mantine/core";
import { Download } from "lucide-react";
import { commonText } from "../../messages/common.ts";

type What = { of: string; label?: undefined } | { label: string; of?: undefined };

/** Downloads a list as CSV. Where a page has two, the label says what each is for. */
export function CsvButton({ href, of, label }: { href: string } & What) {
  return (
    <Button
      component="a"
      href={href}
      download
      size="compact-sm"
      variant="default"
      leftSection={<Download size={14} />}
      {...(of === undefined ? {} : { "aria-label": commonText.list.csvOf(of) })}
    >
      {label ?? commonText.list.csv}
    </Button>
  );
}
