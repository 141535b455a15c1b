// The parts of the command reference that the commands do not declare: an example of each, and details. scripts/commandDocs.ts
// writes the pages. Examples of a page are run in the order of the page, on one installation (test/guides.test.ts), or by the test
// that `by` names.

type Note = {
  /** Begins with the command's words; the page shows it after `npx cleancast`. */
  example: string;
  by?: string;
  /** Commands that bring the installation into the state for which the example is: the mark `run after …`. */
  after?: string;
  /** Markdown, seen from docs/reference/commands/. */
  more?: string;
};

/** Commands that a page needs before its examples. */
export const before: Readonly<Record<string, string>> = {
  source: `echo '{"number":"A-1","total":"49.90","status":"paid","customer":{"email":"nora@example.com"}}' > body.json`,
  doctor: `npx cleancast key add shop.example.com "my backend"`,
  connection: `npx cleancast connection add shop.example.com meta pixel_id=… access_token=@token.txt test_event_code=…`,
  import: `cat > orders.csv <<END
email,event,value,currency,orderId,eventTime
nora@example.com,purchase,49.90,EUR,COMMAND-1,$(date +%s)
END
cat > clicks.csv <<END
email,gclid,seenAt
nora@example.com,Cj0-from-the-old-system,$(date +%s)
END`,
  reconcile: `cat > orders.csv <<END
orderId,time,value,currency,status,email
COMMAND-1,$(date -d "5 days ago" +%F),49.90,EUR,paid,nora@example.com
END
printf s3cret > key.txt`,
  apply: `cat > cleancast.yaml <<END
version: 1
sites:
  - hosts: [shop.example.com]
    settings: { time_zone: Europe/Berlin }
END`,
  export: "printf s3cret > key.txt",
  restore: "npx cleancast backup cleancast.backup",
  "restore-drill": `export CLEANCAST_BACKUP_FOLDER=backups
npx cleancast backup`,
  correction: `npx cleancast site set shop.example.com corrections=on
curl -sS https://shop.example.com/__cc/inbound -H 'X-CC-Api-Key: cc_…' -H 'Content-Type: application/json' \\
  -d '{"email":"nora@example.com","event":"purchase","value":49.90,"orderId":"A-4101"}'`,
  backfill: `curl -sS https://shop.example.com/__cc/inbound -H 'X-CC-Api-Key: cc_…' -H 'Content-Type: application/json' \\
  -d '{"email":"nora@example.com","event":"purchase","value":49.90,"orderId":"COMMAND-1"}'
npx cleancast connection add shop.example.com meta pixel_id=… access_token=@token.txt`,
  person: "npx cleancast identity put shop.example.com --email ada@example.com gclid=Cj0-example",
};

export const notes: Readonly<Record<string, Note>> = {
  serve: {
    example: "serve",
    more: "`--config` is for containers: [configuration as a file](../../how-to/configuration-file.md#apply-it-when-the-relay-starts). `npm start` does the same in the project's folder. [How it stops](../../how-to/run-on-one-machine.md#install-a-new-version).",
  },
  apply: {
    example: "apply cleancast.yaml",
    more: "[Configuration as a file](../../how-to/configuration-file.md).",
  },
  "export data": {
    example: "export data --to exported --from 7d",
    more: "To a folder or an S3-compatible bucket. An hour that was exported before is skipped, so the command can run every hour. [Export data](../../how-to/export-data.md).",
  },
  "export schedule set": {
    example: `export schedule set shop.example.com s3://my-bucket/cleancast --endpoint https://s3.eu-central-1.amazonaws.com --region eu-central-1 \\
  --key-id AKEXAMPLE --secret @key.txt`,
    more: "The folder of `folder` is the setting `CLEANCAST_EXPORT_FOLDER`. The address is checked like that of a webhook. [Export data](../../how-to/export-data.md).",
  },
  "export schedule show": { example: "export schedule show shop.example.com" },
  "export schedule retry": { example: "export schedule retry shop.example.com" },
  "export schedule remove": { example: "export schedule remove shop.example.com" },
  "export due": { example: "export due" },
  "export configuration": {
    example: "export",
    more: "`export` alone does the same. Secrets are written as references to variables: [configuration as a file](../../how-to/configuration-file.md).",
  },
  "share add": {
    example: 'share add shop.example.com report "Agency" --expires 30d',
    more: "[Share a report or a wall](../../how-to/share.md).",
  },
  "share list": { example: "share list shop.example.com" },
  "share remove": {
    example: "share remove shop.example.com ID",
    by: "test/sharing/links.test.ts",
  },
  "share send": {
    example: "share send shop.example.com",
    by: "test/sharing/links.test.ts",
    more: "`site set SITE weekly_report=…` sends it every week. Refused where the site has no recipient of alerts. [Every week](../../how-to/share.md#every-week-by-mail-or-chat).",
  },
  "config-schema": {
    example: "config-schema",
    more: "Editors check a file with it while you type: [configuration file](../configuration-file.md).",
  },
  doctor: {
    example: "doctor --offline",
    more: "The exit code is 1 if something must be fixed. [What it checks](../doctor.md).",
  },
  mcp: {
    example: "mcp",
    by: "test/api/mcp.test.ts",
    more: "Assistants elsewhere use `/mcp` of the relay, with an API key: [connect an AI assistant](../../how-to/assistants.md).",
  },
  migrate: { example: "migrate", more: "[Upgrade and roll back](../../how-to/upgrade.md)." },
  backup: {
    example: "backup cleancast.backup",
    more: "Shows its progress. Without a file it makes a backup as [the schedule](../../how-to/scheduled-backups.md) does: it deletes old ones, and runs the hook. With `CLEANCAST_BACKUP_KEY` or `CLEANCAST_BACKUP_PASSPHRASE` the file is encrypted. [Backup, restore and encryption key](../../how-to/backup.md).",
  },
  "restore-drill": {
    example: "restore-drill",
    more: "The data of the installation is not touched, and the relay may run. The exit code is 1 if there is a problem. [Try a restore](../../how-to/scheduled-backups.md#try-a-restore).",
  },
  restore: {
    example: "restore cleancast.backup",
    after: "mv data data.before && mkdir data && cp data.before/encryption.key data",
    more: "Verifies the file first, and restores all of it or nothing. `--force` replaces existing data and sets a damaged database aside.",
  },
  check: { example: "check", more: "The exit code is 1 if there is a problem." },
  vacuum: {
    example: "vacuum",
    more: "Removes the bytes of deleted rows from the embedded database, for which the relay must be stopped. On PostgreSQL it runs next to relays. [Deleted bytes](../stored-data.md#deleted-bytes).",
  },
  move: {
    example: "move --to postgres://cleancast:secret@database.internal:5432/cleancast",
    more: "Run it again to continue after a stop. [Move to PostgreSQL](../../how-to/move-to-postgresql.md).",
  },
  "encryption-key rotate": {
    example: "encryption-key rotate",
    more: "`--alone` is for PostgreSQL with the key in a file, if there is no other node. [Backup and encryption key](../../how-to/backup.md).",
  },
  "encryption-key lost": {
    example: "encryption-key lost --yes",
    after: "rm data/encryption.key",
    more: "Without `--yes` it shows what you will lose. [Lost encryption key](../../how-to/backup.md#lost-encryption-key).",
  },
  completion: {
    example: "completion bash > cleancast-completion.bash",
    more: "[Shell completion](../cli.md#shell-completion).",
  },
  "site add": { example: "site add www.example.com" },
  "site list": { example: "site list" },
  "site show": { example: "site show www.example.com", more: "Secrets are never shown." },
  "site set": {
    example: "site set shop.example.com consent_mode=opt-in keep=60d --yes",
    more: "Asks if a shorter retention deletes data.",
  },
  "site remove": {
    example: "site remove www.example.com --yes",
    more: "Counts what it would delete, and asks. Keys, connections and webhooks of the site end within two seconds, and its data is deleted in the background: [delete a site](../stored-data.md#delete-a-site).",
  },
  "site move": {
    example: "site move blog.example.com --to postgres://cleancast:secret@other.internal:5432/cleancast --key-file other.key",
    after: "npx cleancast site add blog.example.com",
    more: "Both installations may be running. Run it again to continue after a stop. [Move a site to another installation](../../how-to/move-a-site.md).",
  },
  "host add": {
    example: "host add shop.example.com www.shop.example.com",
    more: "[Domains and TLS](../../how-to/domains.md).",
  },
  "host list": { example: "host list shop.example.com" },
  "host verify": {
    example: "host verify www.shop.example.com",
    more: "Shows what to do if something is wrong.",
  },
  "host pause": { example: "host pause www.shop.example.com" },
  "host resume": { example: "host resume www.shop.example.com" },
  "host remove": { example: "host remove www.shop.example.com" },
  tag: {
    example: "tag shop.example.com",
    more: "[Install the browser tag](../../how-to/tag.md).",
  },
  "key add": {
    example: 'key add shop.example.com "HubSpot"',
    more: "The first key of a site turns inbound on. `--hash` adds a key that was made elsewhere: [set up without a browser](../../how-to/set-up-without-a-browser.md).",
  },
  "key generate": {
    example: "key generate",
    more: "For a secret manager and `key add --hash`.",
  },
  "key list": { example: "key list shop.example.com" },
  "key rotate": { example: "key rotate ID" },
  "key remove": { example: "key remove ID" },
  "api-key add": {
    example: 'api-key add "Reports"',
    more: "For the [management API](../management-api.md). An inbound key is another thing: `key add`.",
  },
  "api-key list": { example: "api-key list" },
  "api-key remove": {
    example: "api-key remove ID --yes",
    more: "The keys stop working within 2 seconds.",
  },
  "member list": { example: "member list", more: "[Members and roles](../access.md)." },
  "member add": {
    example: "member add ada@example.com --role viewer --site shop.example.com",
  },
  "member reset": {
    example: "member reset ada@example.com",
    more: "Using the link ends all sessions of the member.",
  },
  "member sessions": { example: "member sessions ada@example.com" },
  "member remove": { example: "member remove ada@example.com" },
  audit: {
    example: "audit shop.example.com",
    more: "`--installation`: members, API keys, deleted sites and encryption keys.",
  },
  "platform list": { example: "platform list" },
  "platform show": { example: "platform show meta" },
  "connection add": {
    example: "connection add shop.example.com meta pixel_id=… access_token=@token.txt",
    more: "Connecting the same account again changes the connection and releases parked deliveries. Settings of each platform: [platforms](../../platforms/README.md). [Verified connections](../../how-to/connect-a-platform.md#verified-connections), [past conversions](../../how-to/backfill.md).",
  },
  "connection remove": {
    example: "connection remove ID --yes",
    more: "Counts the waiting deliveries, and asks.",
  },
  "connection list": { example: "connection list shop.example.com", more: "Secrets are never shown." },
  "connection show": { example: "connection show ID", more: "Secrets are never shown." },
  "connection set": {
    example: "connection set ID events=purchase,lead",
    more: "The other settings stay as they are. After a token expired: `connection set ID access_token=@file`.",
  },
  "connection rotate": {
    example: "connection rotate ID",
    after: "npx cleancast connection add shop.example.com webhook url=https://hooks.example.com/orders",
    more: "For [your own endpoint](../../how-to/receive-conversions.md), whose requests are signed.",
  },
  "connection preview": {
    example: "connection preview ID --name lead",
    after: "npx cleancast connection remove ID --yes",
  },
  "connection values": {
    example: "connection values ID purchase=20%",
    more: "Without rules, uses the saved ones. Saves nothing: `connection set ID value.purchase=20%` does. [Value rules](../../how-to/value-rules.md).",
  },
  "connection verify": {
    example: "connection verify ID",
    more: "The exit code is 1 if the connection is not verified.",
  },
  "connection test": { example: "connection test ID", more: "The exit code is 1 if it is not accepted." },
  "connection choices": {
    example: "connection choices shop.example.com meta ad_account_id",
    more: "`sign_in=ID` uses a sign-in. A list may depend on another setting: `connection choices shop.example.com meta pixel_id ad_account_id=123`.",
  },
  "connection pause": { example: "connection pause ID" },
  "connection resume": { example: "connection resume ID" },
  "sign-in": {
    example: "sign-in shop.example.com google_ads",
    after: "npx cleancast oauth app set google_ads client_id=… client_secret=@secret.txt",
    more: "Waits for the sign-in, then prints the command that uses it. It needs an [OAuth app](oauth.md).",
  },
  "oauth app set": { example: "oauth app set google_ads client_id=… client_secret=@secret.txt" },
  "oauth app list": { example: "oauth app list" },
  "oauth app remove": { example: "oauth app remove google_ads" },
  "event list": { example: "event list shop.example.com --limit 5" },
  "event sources": {
    example: "event sources shop.example.com --model linear",
    more: "By the last, the first or all visits. [Attribution models](../../explanation/attribution-models.md).",
  },
  "event stages": {
    example: "event stages shop.example.com",
    more: "[Lead stages](../../how-to/lead-stages.md).",
  },
  "event show": {
    example: "event show ID",
    more: "[Read a trace](../../how-to/read-a-trace.md) explains what it prints.",
  },
  why: {
    example: "why COMMAND-1",
    more: "Takes an order id in any spelling, an event id or a platform event id. The answer is one sentence for each platform, with the evidence and what to do. The trace in the dashboard begins with the same answer, and `GET /sites/:site/why` gives it to programs.",
  },
  "what-if": {
    example: "what-if shop.example.com bot_threshold=75 --days 30",
    more: "[What changed settings would have done](../../how-to/what-if.md).",
  },
  "event release": { example: "event release ID" },
  "delivery list": {
    example: "delivery list shop.example.com --state rejected,expired,parked --from 7d",
    more: "[Sync log](../sync-log.md).",
  },
  "delivery show": { example: "delivery show EVENT" },
  "delivery replay": { example: "delivery replay shop.example.com --state rejected --dry-run" },
  "delivery cancel": { example: "delivery cancel shop.example.com --state parked --dry-run" },
  quality: {
    example: "quality shop.example.com",
    more: "[Match quality](../match-quality.md) explains the columns and the score.",
  },
  "correction add": {
    example: "correction add shop.example.com A-4101 --value 20",
    more: "For an order that was refunded or cancelled.",
  },
  "correction list": {
    example: "correction list shop.example.com",
    more: "[Refunds](../../how-to/refunds.md) says which platforms can be corrected.",
  },
  "backfill start": {
    example: "backfill start ID --days 30 --yes",
    after: "npx cleancast connection pause ID",
    more: "Counts them first, and asks. [Send past conversions to a platform](../../how-to/backfill.md).",
  },
  "backfill list": { example: "backfill list" },
  "backfill cancel": {
    example: "backfill cancel ID",
  },
  "import conversions": {
    example: "import conversions shop.example.com orders.csv --deliver none",
    more: "Run it again to continue after a stop. [Import historical conversions](../../how-to/import-conversions.md).",
  },
  "import identities": {
    example: "import identities shop.example.com clicks.csv",
    more: "[Identity records](../../how-to/import-conversions.md#identity-records).",
  },
  "import list": { example: "import list shop.example.com" },
  "reconcile upload": {
    example: "reconcile upload shop.example.com orders.csv",
    more: "Run it again to continue after a stop. [The columns of the list](../../how-to/reconcile.md#the-list).",
  },
  "reconcile start": {
    example: "reconcile start shop.example.com --wait",
    more: "The relay does the work. Whole days in the time zone of the site; by default without the last 48 hours. [The period](../../how-to/reconcile.md#the-period).",
  },
  "reconcile list": { example: "reconcile list shop.example.com" },
  "reconcile show": {
    example: "reconcile show shop.example.com",
    more: "[What the classes mean](../../how-to/reconcile.md#what-the-classes-mean).",
  },
  "reconcile rows": { example: "reconcile rows shop.example.com --class missing_here" },
  "reconcile export": {
    example: "reconcile export shop.example.com --out missing.csv",
    more: "[Send what is missing](../../how-to/reconcile.md#send-what-is-missing).",
  },
  "reconcile send": {
    example: "reconcile send shop.example.com --yes",
    more: "Orders without an email, and those that arrived since, are left out. It may be repeated: no order is sent twice. [Send what is missing](../../how-to/reconcile.md#send-what-is-missing).",
  },
  "reconcile correct": {
    example: "reconcile correct shop.example.com --class value_differs --yes",
    after: "npx cleancast site set shop.example.com corrections=on",
    more: "Takes back orders that were refunded or cancelled, and corrects those with another value. Only with the site's setting `corrections`. [Correct what was refunded](../../how-to/reconcile.md#correct-what-was-refunded-or-has-another-value).",
  },
  "reconcile cancel": {
    example: "reconcile cancel shop.example.com RUN",
    after: "npx cleancast reconcile start shop.example.com",
  },
  "reconcile feed set": {
    example: "reconcile feed set shop.example.com https://orders.example.com/orders.csv --header X-Api-Key=@key.txt",
    more: "The address is checked like that of a webhook, and redirects are not followed.",
  },
  "reconcile feed show": { example: "reconcile feed show shop.example.com" },
  "reconcile feed fetch": { example: "reconcile feed fetch shop.example.com" },
  "reconcile feed remove": { example: "reconcile feed remove shop.example.com" },
  "identity put": {
    example: "identity put shop.example.com --email ada@example.com gclid=Cj0-example utm_source=google",
  },
  "identity get": { example: "identity get shop.example.com --email ada@example.com" },
  "consent set": {
    example: "consent set shop.example.com denied --email ada@example.com",
    more: "[Consent](../../explanation/consent.md).",
  },
  "person export": { example: "person export shop.example.com --email ada@example.com" },
  "person erase": {
    example: "person erase shop.example.com --email ada@example.com --yes",
    more: "Counts what it would erase, and asks. [Stored data](../stored-data.md).",
  },
  "traffic check": {
    example: 'traffic check shop.example.com --user-agent "…" --ip 192.0.2.10',
    more: "[Bot filtering](../../explanation/bot-filtering.md).",
  },
  "traffic bots": { example: "traffic bots shop.example.com" },
  "traffic replay": { example: "traffic replay VISIT" },
  "traffic evidence": {
    example: "traffic evidence shop.example.com --hours 168",
    more: "Counts visits, submitted emails and conversions with each signal.",
  },
  "traffic clicks": {
    example: "traffic clicks shop.example.com --cost-per-click 0.80",
    more: "[Report invalid clicks](../../how-to/report-invalid-clicks.md).",
  },
  "traffic counts": { example: "traffic counts shop.example.com --hours 24" },
  "alert list": { example: "alert list", more: "[Alerts](../../how-to/alerts.md)." },
  "alert test": {
    example: "alert test shop.example.com",
    after: "npx cleancast site set shop.example.com alert_emails=ops@example.com",
    more: "The exit code is 1 if a message fails.",
  },
  "source kinds": { example: "source kinds" },
  "source add": {
    example: "source add shop.example.com custom email=customer.email value=total order_id=number",
    more: "The address is for the sender, and a secret; `source show` shows it again. Secrets of the sender are given as `signing_secret=@file`.",
  },
  "source list": { example: "source list shop.example.com" },
  "source show": { example: "source show ID" },
  "source fields": {
    example: "source fields ID",
    more: "The names are those that a mapping uses.",
  },
  "source set": {
    example: "source set ID when='status = \"paid\"'",
    more: "A replaced secret stays valid for 24 hours.",
  },
  "source test": {
    example: "source test ID body.json",
    more: "Reads the file as the body of a request. It shows the fields of the event, or why the request would be ignored.",
  },
  "source pause": { example: "source pause ID" },
  "source resume": { example: "source resume ID" },
  "source rotate": { example: "source rotate ID" },
  "source remove": { example: "source remove ID --yes" },
  "webhook add": {
    example: "webhook add shop.example.com https://example.com/cleancast",
    more: "[Outbound webhook](../outbound-webhook.md).",
  },
  "webhook list": { example: "webhook list shop.example.com" },
  "webhook show": { example: "webhook show ID" },
  "webhook test": { example: "webhook test ID" },
  "webhook rotate": { example: "webhook rotate ID" },
  "webhook disable": { example: "webhook disable ID" },
  "webhook enable": { example: "webhook enable ID", after: "npx cleancast webhook disable ID" },
  "webhook repair": {
    example: "webhook repair ID https://example.com/cleancast",
    after: `node -e 'new (require("node:sqlite").DatabaseSync)("data/cleancast.db").exec("UPDATE webhooks SET secrets = upper(secrets)")'`,
    more: "It gets a new secret and keeps its periods. For a webhook that [cannot be read](../../how-to/troubleshooting.md#damaged-data).",
  },
  "webhook replay": {
    example: "webhook replay ID --period 2026-11-15T12:00Z",
  },
  "webhook remove": {
    example: "webhook remove ID --yes",
    more: "Counts its waiting periods, and asks.",
  },
};
