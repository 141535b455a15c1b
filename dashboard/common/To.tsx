// A link to a page of the dashboard, as text.

import { Anchor, type AnchorProps } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

export function To({
  search = {},
  ...rest
}: AnchorProps & {
  to: string;
  search?: Record<string, unknown>;
  "aria-label"?: string;
  children: ReactNode;
}) {
  return <Anchor component={Link} size="sm" search={search as never} {...rest} />;
}
