// Writes a query for DuckDB over the files of an export: conversions and their value by platform and present state.

import type { ExportOptions, ExportTarget } from "../store/export/dataExports.ts";

type Queried = {
  siteId: string;
  target: ExportTarget | null;
  exportFolder: string | null;
  format: ExportOptions["format"];
};

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

export function exportQuery({ siteId, target, exportFolder, format }: Queried): string {
  const place =
    target?.kind === "bucket" ? `s3://${target.bucket}/${target.prefix}` : `${(exportFolder ?? "exports").replace(/\/$/, "")}/`;
  const read = format === "parquet" ? "read_parquet" : "read_json";
  const more = format === "parquet" ? "" : ", union_by_name = true";
  const files = (tables: string) =>
    `${read}(${quoted(`${place}v1/site=${siteId}/table=${tables}/date=*/hour=*/*.${format}`)}${more})`;
  return `${target?.kind === "bucket" ? secretText(target) : ""}-- The tables of changes have later states of the same rows: the last one counts.
WITH deliveries AS (
  SELECT * FROM ${files("deliver*")}
  QUALIFY row_number() OVER (PARTITION BY event_id, connection_id ORDER BY updated_at DESC) = 1
), events AS (
  SELECT * FROM ${files("event*")}
  QUALIFY row_number() OVER (PARTITION BY event_id ORDER BY released_at DESC NULLS LAST) = 1
)
SELECT platform, deliveries.state, currency, count(*) AS conversions, sum(value) AS value
FROM deliveries JOIN events USING (event_id)
WHERE mode = 'live'
GROUP BY ALL ORDER BY ALL;`;
}

/** The secret itself is never shown. */
function secretText({ endpoint, region, keyId }: Extract<ExportTarget, { kind: "bucket" }>): string {
  const { host, protocol, pathname } = new URL(endpoint);
  const address = quoted(`${host}${pathname.replace(/\/$/, "")}`);
  const plain = protocol === "http:" ? ", USE_SSL false" : "";
  return `CREATE SECRET (TYPE s3, KEY_ID ${quoted(keyId)}, SECRET '…', REGION ${quoted(region)}, ENDPOINT ${address}, URL_STYLE 'path'${plain});
`;
}
