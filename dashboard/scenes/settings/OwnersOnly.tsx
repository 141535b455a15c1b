import { ShieldUser } from "lucide-react";
import type { ReactNode } from "react";
import { Card } from "../../common/Page.tsx";
import { Empty } from "../../common/states.tsx";

/** For who may not see a page's content: who can. */
export function OwnersOnly({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card>
      <Empty icon={ShieldUser} title={title}>
        {children}
      </Empty>
    </Card>
  );
}
