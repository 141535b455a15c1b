// Why a delivery has its state, and why a request failed.

export const reasonMessages = {
  too_old: "older than the {days} days that {platform} takes",
  needs_reconnection: "needs reconnection: {reason}",
  too_old_to_retry: "too old to try again; last: {reason}",
  no_token_yet: "no access token yet: {reason}",
  no_app: "no OAuth app is set for {platform}",
  app_unreadable: "the OAuth app for {platform} cannot be read; set it again",
  address_refused: "the address {fault}",
  no_answer_within: "no answer within {seconds} s",
  request_failed: "the request failed ({code})",
  cancelled_by: "cancelled by {actor}",
  too_late_for: "too late for {platform}, which would date them today",
  platform_lacks_conversion: "{platform} does not have the conversion",
  platform_did_not_count: "{platform} did not count the conversion: {reason}",
  cannot_take_back: "{platform} cannot take conversions back",
  too_old_for: "too old for {platform}",
  could_not_be_asked: "{platform} could not be asked: {reason}",
  disabled_by: "disabled by {actor}",
  failed_for_days: "it has failed for 5 days; last: {reason}",
  verified_by_first:
    "{platform} has no call that checks a connection without counting a conversion; the first accepted conversion verifies it",
  never_verified:
    "{platform} answers every request alike, so wrong settings do not show; look at {where} after the first conversion",
  event_needs_setting: "{reason}; set {setting}, or one for each event",
  http_gone: "HTTP {status}: gone",
  http_redirect: "HTTP {status}: redirects are not followed",
} as const;
