// Alerts: titles, and what happened.

export const alertMessages = {
  answered_http: "it answered with HTTP {status}",
  alert_wrong_keys:
    "{host} has received ten or more requests with wrong keys within five minutes, since {since}. They are rejected; valid keys still work.",
  alert_connection_unreadable:
    "{connection} cannot be read: its row in the database is damaged. Deliveries to it wait until it is connected again.",
  alert_credentials: "{connection} no longer accepts our credentials. Deliveries to it wait until it is connected again.",
  alert_settings_unreadable:
    "The settings of this site cannot be read: its row in the database is damaged. Until they are set again, senders are asked to retry (503), nothing is sent, and nothing is purged.",
  alert_address_unreadable:
    "The address of the alert webhook cannot be read: its value in the database is damaged. Alerts are not sent there until it is set again.",
  alert_app_unreadable:
    "The OAuth app for {platform} cannot be read: its row in the database is damaged. Tokens cannot be renewed, and deliveries wait.",
  alert_host: "{problem} Since {since}.",
  alert_success_rate: "Of the last {attempts} attempts to reach {connection}, {percent}% succeeded; the limit is {limit}%.",
  alert_silence: "No events received since {since}. In the last four weeks the longest pause at these hours was about {pause}.",
  alert_webhook_unreadable:
    "Webhook {id} cannot be read: its row in the database is damaged. Its totals are kept until it is repaired.",
  alert_webhook_failing: "Webhook {id} to {origin} has failed since {since}. Its totals are kept and sent again.",
  alert_delayed: "Deliveries to {connection} are delayed: {count} wait, and the oldest has been due since {since}.",
  alert_growing: "{count} deliveries wait for {connection}, and the queue is growing.",
  one_hour: "an hour",
  hours: "{hours} hours",
  title_reconnect: "{connection} needs reconnection",
  title_success_rate: "deliveries to {connection} fail",
  title_silence: "no events received",
  title_webhook: "webhook {id} fails",
  title_wrong_keys: "wrong keys on {host}",
  title_queue: "deliveries to {connection} are delayed",
  title_host: "{host} does not reach this relay",
  title_not_counted: "{connection} counts fewer conversions",
  title_quality: "match quality at {connection} fell",
  title_accepted_orders: "{connection} accepts fewer of your orders",
  title_order_feed: "the list of orders cannot be fetched",
  title_unreadable: "{what} cannot be read",
  alert_not_counted:
    "Of the last {decided} conversions that {connection} accepted and decided on, it did not count more than usual: {reasons}.",
  alert_quality: "{connection} rates the match quality of our events lower than in the days before: {scores}.",
  alert_accepted_orders:
    "{connection} has {reached} of the {orders} deliverable orders from {from} to {to}, {percent} %. Before, it was {before} %.",
  alert_order_feed: "The list of orders could not be fetched since {since}. It is tried again every hour.",
  share_of_reason: "{reason} ({now})",
  share_grew: "{reason} ({now}, usually {usually})",
  alert_webhook_disabled: "Webhook {id} to {origin} is disabled: {reason}. Its totals are kept until it is enabled again.",
  alert_webhook_disabled_since:
    "Webhook {id} to {origin} is disabled: {reason}. It has failed since {since}. Its totals are kept until it is enabled again.",
  more_than: "more than {count}",
  do_reconnect: "Reconnect it: sign in again or enter new credentials. Parked deliveries are then sent.",
  do_read_reasons: "Check its sync log for the reasons that the platform gives.",
  do_check_senders: "Check the systems that send events: the list of inbound keys shows when each was last used.",
  do_check_pushes: "Check the log of its pushes, and send a test push.",
  do_compare_keys: "A sender may be using an old key: compare it with the list of inbound keys.",
  do_read_queue: "Check its sync log: each queued delivery shows what it is waiting for.",
  do_check_domains: "The list of domains shows what to do. Check the domain again there afterwards.",
  do_read_report: "Read the report of the last reconciliation: each loss leads to its orders.",
  do_check_feed: "Check the address of the order feed; its last error says what is wrong.",
  do_repair: "Enter again what cannot be read, or restore it from a backup.",
  do_read_quality: "The page of its match quality shows which keys are missing, and what would raise the score most.",
  do_filter_log: "Filter the sync log by this confirmation: each delivery shows the reason of the platform.",
  title_source_silence: "no requests from {source}",
  title_wrong_signatures: "wrong signatures at {source}",
  title_source_failing: "{source} gets errors",
  alert_source_silence:
    "{source} has sent no request since {since}. In the last four weeks the longest pause at these hours was about {pause}.",
  alert_wrong_signatures:
    "{source}: {count} requests with a wrong signature since {since}. They are refused, and nothing of them is counted.",
  alert_source_failing: "The last {count} requests of {source} got an error, since {since}. {rule}",
  source_gives_up: "Senders switch a webhook off that fails for too long.",
  source_gives_up_failures: "The sender switches its webhook off after {failures} failures in a row.",
  source_gives_up_hours: "The sender switches its webhook off after {hours} without a success.",
  do_check_source: "Check the webhook at the sender: it may have been removed or switched off.",
  do_compare_secrets: "Compare the secret of the source with the sender's, and enter it again.",
  do_repair_source: "The list of its requests shows the reason of each. Resume the source, or enter its secret again.",
  alert_events_unreadable: "Stored events cannot be read: their rows in the database are damaged. They are not sent.",
  alert_bot_visits_unreadable: "Sampled bot visits cannot be read: their rows in the database are damaged. The counts are right.",
} as const;
