// Lists a row or two for every table. Migrations must keep them, a backup must contain them, and a
// change of the encryption key must reseal them.

import type { Attribution } from "../../../src/kernel/event.ts";
import { packAttribution, packRecord } from "../../../src/store/people/personCodec.ts";
import { orderEventId as makeOrderEventId } from "../../../src/kernel/ids.ts";
import { dayMs } from "../../../src/kernel/time.ts";
import { orderClaim, personRefOf } from "../../../src/store/events/claims.ts";
import { emailRef } from "../../../src/store/events/eventRow.ts";
import type { Row } from "../../../src/store/engine/database.ts";
import { sealWith } from "../../../src/store/engine/seal.ts";
import { sha256 } from "../sha256.ts";

export const rowsKey = Buffer.alloc(32, 7);
export const rowsAt = Date.UTC(2026, 9, 1, 12, 30);
export const eventId = "01k6ghp40g0000000000000001";
export const person = sha256("a".repeat(64));

const at = rowsAt;
const hour = Math.floor(at / 3_600_000);
const site_id = "s1";
const orderEventId = makeOrderEventId(site_id, "purchase", "A-1");
const personRef = personRefOf(orderEventId, person);
const attribution: Attribution = {
  consent: "granted",
  withheld: null,
  identity: "found",
  clickIds: {},
  browserIds: {},
  utm: {},
  browser: null,
};
const visit = { visitorId: "v1", seenAt: at, browser: null, clickIds: {}, browserIds: {}, utm: {} };

/** The rows have all columns that the tables ever had; a migration's test leaves out later ones. */
export function representativeRows(): Record<string, Row[]> {
  const seal = sealWith(rowsKey);
  const close = (plain: string, place: string) => seal.seal(plain, place);
  const sealedJson = (value: unknown, place: string) => close(JSON.stringify(value), place);
  return {
    sites: [
      {
        site_id,
        name: "Shop",
        settings: JSON.stringify({
          inbound: true,
          alertWebhook: close("https://hooks.example/T", "setting s1 alertWebhook"),
        }),
        revision: 1,
        // Its totals count events that were purged long ago.
        created_at: at - 900 * dayMs,
      },
    ],
    deleted_sites: [{ site_id: "s0", revision: 1, deleted_at: at, purged_at: null }],
    // The site came from another installation.
    site_moves: [
      {
        site_id,
        move_id: "m1",
        run_id: "r1",
        state: "live",
        peer: "sqlite /var/lib/cleancast",
        started_at: at,
        updated_at: at,
      },
    ],
    hosts: [{ host: "shop.example.com", site_id, created_at: at }],
    inbound_keys: [
      {
        site_id,
        id: "k1",
        name: "CRM",
        mode: "live",
        hash: "b".repeat(64),
        prefix: "cc_12345",
        created_at: at,
        expires_at: null,
        revoked_at: null,
        api_key_id: null,
      },
    ],
    connections: [
      {
        site_id,
        id: "c1",
        platform: "segment",
        account: "acme",
        settings: '{"source":"acme"}',
        credentials: sealedJson({ write_key: "s3cret" }, "connection s1 c1"),
        events: "null",
        state: "active",
        state_reason: null,
        created_at: at,
        updated_at: at,
      },
    ],
    events: [
      {
        site_id,
        id: eventId,
        key_id: "k1",
        mode: "live",
        status: "accepted",
        reasons: null,
        name: "purchase",
        value: 49.9,
        currency: "EUR",
        order_id: "A-1",
        order_key: "a-1",
        email_ref: emailRef(person),
        time: at,
        received_at: at,
        person,
        attribution: packAttribution(attribution),
        extra: sealedJson({ plan: "gold" }, `event s1 ${eventId}`),
        plan: '[["c1","segment","row"],["c2","sandbox"]]',
        owner: "node",
        uses_order_event_id: 0,
        order_event_id: null,
        released_at: null,
      },
    ],
    dedup_claims: [
      {
        site_id,
        claim: orderClaim(orderEventId, "live", personRef),
        event_id: eventId,
        person_ref: personRef,
        expires_at: at + 1,
      },
    ],
    outcomes: [{ site_id, event_id: eventId, number: 0, results: `[[1,${at},5,200,1,"abcdef","{}"]]` }],
    shared_traffic: [{ site_id: "", writer: "node", number: 1, written_at: at, record: "[]" }],
    nodes: [{ site_id: "", owner: "node", low_water: eventId, until: at }],
    cursors: [
      { site_id, name: "confirmations of c1", reached: `${eventId} ${at} ${eventId}` },
      { site_id, name: "corrections", reached: `${eventId} ${eventId} ${eventId}` },
      { site_id, name: "purged answers", reached: eventId },
    ],
    confirmations: [
      {
        site_id,
        event_id: eventId,
        connection_id: "c1",
        state: "not counted",
        reason: "no ad click",
        detail: "1 of 1: CLICK_NOT_FOUND",
        retries: 0,
        counted: "not counted/no ad click",
        updated_at: at,
      },
    ],
    confirmation_counts: [
      {
        site_id,
        hour,
        connection_id: "c1",
        state: "not counted",
        reason: "no ad click",
        platform: "google_ads",
        count: 1,
      },
    ],
    confirmation_requests: [
      {
        site_id,
        connection_id: "c1",
        subject: "t-1",
        events: JSON.stringify([eventId]),
        accepted_at: at,
        asked: 1,
        due_at: at,
      },
    ],
    corrections: [
      {
        site_id,
        event_id: eventId,
        connection_id: "c1",
        state: "waiting",
        value: 12.5,
        source: eventId,
        reason: null,
        attempts: 1,
        due_at: at,
        updated_at: at,
      },
    ],
    quality_snapshots: [
      {
        site_id,
        connection_id: "c1",
        day: "2026-11-15",
        reports: JSON.stringify([{ event: "Purchase", score: 6.8, maxScore: 10, rating: null, keys: [], notes: [] }]),
      },
    ],
    deliveries: [
      {
        site_id,
        event_id: eventId,
        connection_id: "c1",
        platform: "segment",
        state: "sent",
        reason: null,
        attempts: 1,
        due_at: at,
        owner: "",
        updated_at: at,
      },
    ],
    attempts: [
      {
        site_id,
        event_id: eventId,
        connection_id: "c1",
        number: 1,
        started_at: at,
        duration_ms: 5,
        state: "sent",
        reason: null,
        http_status: 200,
        batch: 1,
        request: "POST https://api.segment.io",
        response: "{}",
      },
    ],
    identities: [
      {
        site_id,
        email_sha256: person,
        record: packRecord({ visits: [visit], firstUtm: {}, forms: {} }, person),
        oldest_at: at,
      },
    ],
    visitors: [
      {
        site_id,
        visitor_id: "v1",
        record: packRecord({ visits: [visit], emailSha256s: [person] }, "v1"),
        oldest_at: at,
      },
    ],
    consents: [{ site_id, subject: person, given_by: "v1", state: "granted", decided_at: at }],
    consent_history: [{ site_id, subject: person, id: "h1", given_by: "v1", state: "granted", decided_at: at }],
    wrong_keys: [{ site_id: "", host: "shop.example.com", at, id: "w1" }],
    lockouts: [{ site_id: "", host: "shop.example.com", started_at: at, locked_until: at + 1 }],
    key_uses: [{ site_id, key_id: "k1", hour, uses: 3, last_used_at: at }],
    audit: [{ site_id, id: eventId, at, actor: "me", action: "site added", detail: "{}" }],
    visit_counts: [{ site_id, hour, bucket: "people", reason: "", writer: "", visits: 9 }],
    bot_visits: [
      {
        site_id,
        id: eventId,
        seen_at: at,
        reason: "automation",
        record: sealedJson(
          { verdict: { bot: true, score: 100, reasons: ["automation"], rules: 1 }, page: "/", seen: {} },
          `bot visit s1 ${eventId}`,
        ),
      },
    ],
    oauth_apps: [
      {
        platform: "google_ads",
        client_id: "client",
        credentials: sealedJson({ clientSecret: "s3cret" }, "oauth app google_ads"),
        updated_at: at,
      },
    ],
    platform_sign_ins: [
      {
        site_id,
        id: "i1",
        platform: "google_ads",
        record: sealedJson({ step: 1 }, "sign-in s1 i1"),
        expires_at: at,
      },
    ],
    connection_checks: [
      { site_id, connection_id: "c1", verified_at: at, checked_at: at, reason: null },
      { site_id, connection_id: "c2", verified_at: null, checked_at: at, reason: "HTTP 401" },
    ],
    removed_connections: [{ site_id, id: "c0", platform: "webhook", account: "https://old.example/in", removed_at: at }],
    backfills: [
      {
        site_id,
        connection_id: "c1",
        state: "done",
        reason: null,
        days: 7,
        per_minute: 600,
        from_id: eventId,
        to_id: eventId,
        cursor: eventId,
        chunk: "[]",
        total: 3,
        tally: '{"queued":3,"outcomes":{"sent":3},"leftOut":{}}',
        due_at: at,
        started_by: "me",
        started_at: at,
        updated_at: at,
      },
    ],
    orders: [
      {
        site_id,
        id: "=a-1001",
        order_id: "A-1001",
        time: at,
        value: 12.5,
        currency: "EUR",
        status: "paid",
        email_ref: 1,
        email_sha256: "e".repeat(64),
        listed_at: at,
      },
    ],
    data_exports: [
      {
        site_id,
        target: sealedJson({ kind: "folder" }, "data export s1"),
        options: "{}",
        from_hour: 0,
        live_hour: 0,
        next_hour: 3_600_000,
        begun: 0,
        redo_until: 0,
        due_at: at,
        runs: "[]",
        error: null,
        failing_since: null,
        created_at: at,
      },
    ],
    shared_links: [
      {
        id: "l1",
        site_id,
        scope: "report",
        name: "Agency",
        hash: "d".repeat(64),
        password: null,
        created_by: "u1",
        created_at: at,
        expires_at: at,
        opened_at: null,
        revoked_at: null,
      },
    ],
    weekly_reports: [{ site_id, schedule: "monday 8 UTC", next_at: at, due_at: 0, results: "{}" }],
    order_feeds: [
      {
        site_id,
        address: sealedJson(
          { url: "https://shop.example/orders.csv", header: { name: "x-api-key", value: "s3cret" } },
          "order feed s1",
        ),
        options: "{}",
        due_at: at,
        fetched_at: at,
        error: null,
        tally: "{}",
        failing_since: null,
        created_at: at,
      },
    ],
    reconciliations: [
      {
        site_id,
        id: "r1",
        state: "done",
        phase: "done",
        cursor: "",
        from_time: at - 1,
        to_time: at,
        event: "purchase",
        tolerance: 0,
        tally: "{}",
        started_by: "me",
        started_at: at,
        updated_at: at,
      },
    ],
    reconciliation_rows: [
      {
        site_id,
        run_id: "r1",
        id: "=a-1001",
        class: "matched",
        found_by: "exact",
        event_id: eventId,
        events: 1,
        time: at,
        order_value: 12.5,
        order_currency: "EUR",
        order_status: "paid",
        event_value: 12.5,
        event_currency: "EUR",
        filtered: null,
        outcomes: '[["c1","sandbox","sent",null,0]]',
      },
    ],
    totals: [{ site_id, writer: "node", conversions: 12, removed_events: 1, bot_visits: 2 }],
    period_heads: [{ site_id, number: 1, ends_at: at, closed_at: at, conversions: 10, removed: 3 }],
    periods: [{ site_id, number: 1, starts_at: at - 1, ends_at: at, conversions: 10, removed: 3, closed_at: at }],
    webhooks: [
      {
        site_id,
        id: "h1",
        url: close("https://totals.example/in", "webhook url s1 h1"),
        secrets: sealedJson({ current: "s3cret", previous: null }, "webhook secrets s1 h1"),
        send_empty: 1,
        state: "active",
        state_reason: null,
        disabled_by: null,
        failing_since: null,
        attempts: 0,
        due_at: 0,
        owner: "",
        created_at: at,
        updated_at: at,
      },
    ],
    pushes: [{ site_id, webhook_id: "h1", number: 1, state: "queued", attempts: 0, sent_at: null }],
    push_log: [
      {
        site_id,
        webhook_id: "h1",
        id: eventId,
        number: 1,
        started_at: at,
        duration_ms: 4,
        ok: 0,
        http_status: 500,
        error: "HTTP 500",
        response: "",
      },
    ],
    alerts: [
      {
        site_id,
        kind: "lockout",
        subject: "shop.example.com",
        began_at: at,
        seen_at: at,
        notified_at: null,
        ended_at: null,
        text: "wrong keys",
        notifications: "{}",
      },
    ],
    users: [
      {
        id: "u1",
        email: "ada@example.com",
        name: "Ada",
        email_verified: 1,
        image: null,
        two_factor: 1,
        created_at: at,
        updated_at: at,
        seen_at: null,
        invited_by: null,
      },
    ],
    sessions: [
      {
        id: "se1",
        user_id: "u1",
        token: "token",
        address: null,
        user_agent: null,
        created_at: at,
        updated_at: at,
        expires_at: at + 1,
        seen_at: null,
      },
    ],
    passwords: [
      {
        id: "p1",
        user_id: "u1",
        account_id: "u1",
        provider_id: "credential",
        password: "scrypt",
        access_token: null,
        refresh_token: null,
        id_token: null,
        access_token_expires_at: null,
        refresh_token_expires_at: null,
        scope: null,
        created_at: at,
        updated_at: at,
      },
    ],
    two_factors: [
      {
        id: "t1",
        user_id: "u1",
        // better-auth sealed these with the access secret that is derived from `rowsKey`.
        secret:
          "6ee504ddab0d32095f46f2c27ec634d4220f05c32153e7c06c51ac8ef5cdb367b0e14f12a667fec89e18fd26613e6cb1130851a8f465be5c",
        backup_codes:
          "d3688e42d0f7ecb83d003034a588405d38bcc3eea4d3bcb0390d8f4fbb6d7044985bd2766ccaa3b47060108ef7666724c09a8ca4bbb756",
        verified: 1,
        failures: 0,
        locked_until: null,
      },
    ],
    verifications: [{ id: "ve1", identifier: "2fa-1", value: "u1", expires_at: at, created_at: at, updated_at: at }],
    grants: [{ user_id: "u1", site_id: "", role: "owner", created_at: at }],
    invitations: [
      {
        id: "in1",
        hash: "c".repeat(64),
        email: "eve@example.com",
        site_id,
        role: "viewer",
        invited_by: "u1",
        created_at: at,
        expires_at: at,
        shown: null,
      },
    ],
    one_time_links: [
      {
        hash: "d".repeat(64),
        purpose: "reset",
        user_id: "u1",
        by_operator: 1,
        created_at: at,
        expires_at: at,
      },
    ],
    push_devices: [
      {
        id: "9".repeat(64),
        user_id: "u1",
        name: "Chrome on Android",
        subscription: sealedJson(
          { endpoint: "https://push.example/9", keys: { p256dh: "B".repeat(87), auth: "a".repeat(22) } },
          `push device ${"9".repeat(64)}`,
        ),
        created_at: at,
      },
    ],
    api_keys: [
      {
        id: "a1",
        site_id,
        name: "reports",
        scopes: "read",
        hash: "e".repeat(64),
        prefix: "ccm_1234",
        created_by: "u1",
        created_at: at,
        expires_at: null,
        revoked_at: null,
      },
    ],
    rate_counters: [{ key: "f".repeat(64), count: 1, until: at }],
    statistics: [
      { site_id, hour, charted_hour: hour, kind: "conversion", name: "purchase", currency: "EUR", count: 1, value: 49.9 },
    ],
    statistics_segments: [
      {
        site_id,
        segment: "source",
        name: "google",
        hour,
        charted_hour: hour,
        figures: '[["conversion","purchase","EUR",1,49.9]]',
      },
    ],
    statistics_hours: [{ site_id, hour, rolled_at: at, due_at: at }],
    statistics_heads: [{ site_id, from_hour: hour, to_hour: hour + 1 }],
    inbound_counts: [{ site_id, hour, kind: "duplicate", writer: "", count: 2 }],
    rejected_requests: [
      {
        site_id,
        id: eventId,
        at,
        status: 401,
        error: "Invalid API key",
        host: "shop.example.com",
        key_id: null,
        address: null,
      },
    ],
    sources: [
      {
        site_id,
        id: "src1",
        kind: "stripe",
        name: "Stripe",
        settings: '{"event":"purchase"}',
        tokens: JSON.stringify([{ value: "d".repeat(64), until: null }]),
        credentials: sealedJson(
          { tokens: [{ value: "t".repeat(26), until: null }], secrets: { signing_secret: [{ value: "s3cret", until: null }] } },
          "source s1 src1",
        ),
        state: "active",
        created_at: at,
        updated_at: at,
      },
    ],
    sender_refs: [
      {
        site_id,
        source_id: "src1",
        ref: "r".repeat(27),
        event_id: null,
        email_ref: 1,
        person: "1".repeat(64),
        order_id: null,
        seen_at: at,
      },
    ],
    source_requests: [
      {
        site_id,
        source_id: "src1",
        id: eventId,
        at,
        outcome: "ignored",
        reason: "not paid",
        detail: null,
        type: "checkout.session.completed",
        delivery_id: "evt_1",
        event_id: null,
        due_at: null,
        attempts: 0,
        waiting: close("{}", `source request s1 src1 ${eventId}`),
      },
    ],
    source_shapes: [
      {
        site_id,
        source_id: "src1",
        id: eventId,
        at,
        type: "checkout.session.completed",
        shape: "[]",
        request: close("{}", `source request s1 src1 ${eventId}`),
      },
    ],
    leases: [
      { site_id: "", name: "purge", owner: "node", until: at },
      { site_id, name: "token of c1", owner: "node", until: at },
    ],
    imports: [
      {
        site_id,
        id: "im1",
        kind: "conversions",
        file: "orders.csv",
        options: "{}",
        state: "done",
        line: 5,
        tally: "{}",
        owner: "",
        lease_until: 0,
        started_at: at,
        updated_at: at,
      },
    ],
  };
}
