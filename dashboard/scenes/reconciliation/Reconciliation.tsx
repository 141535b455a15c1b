// Reconciliation: the customer's list of orders compared with the events and their deliveries.

import { Acceptance } from "./Acceptance.tsx";
import { ComparedPage } from "./ComparedPage.tsx";
import { Differences } from "./Differences.tsx";
import { Orders } from "./Orders.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { Summary } from "./Summary.tsx";

export default function Reconciliation() {
  return (
    <ComparedPage
      tab="orders"
      about={reconciliationText.about}
      report={(shown) => (
        <>
          <Summary {...shown} />
          {shown.report.connections.length > 0 && <Acceptance {...shown} />}
          <Differences site={shown.site} report={shown.report} />
        </>
      )}
      list={(of) => <Orders {...of} />}
    />
  );
}
