// Connections: names of events, settings, sign-in and match quality.

export const connectionMessages = {
  sign_in_answer_unusable: "the answer could not be used ({error})",
  sign_in_refused: "{platform} refused the sign-in: {reason}",
  new_credentials_refused: "{platform} refuses the new credentials: {reason}. The connection keeps its present ones.",
  must_be_domains: "must be domains like example.com; {word} is not one",
  improve_by_sending: "Send {fields} from {sender}: +{percent} % of the conversions would carry {key}.",
  improve_by_tag:
    "Install the tag where people enter their email, or call identifyEmail there: up to +{percent} % of the conversions would carry {key}.",
  event_without_name: "{platform} has no name for {event}, and the connection chooses none.",
  name_chosen_for: "the connection's choice for {usual}",
  name_of_platform_for: "{platform}'s name for {usual}",
  name_of_platform: "{platform}'s name for it",
  name_usual: "its usual name, because {platform} has none of its own",
  name_custom: "a custom event, because {platform} has no name for it",
  event_sent_as: "{event} is sent as {names}: {reason}.",
  must_be_at_most_targets: "must be at most {max}, separated by commas",
  must_be_one_of: "must be one of {known}",
  what_if_setting: "{setting} does not change what becomes of an event. These do: {known}.",
  what_if_domains: "Emails are kept as hashes only: stored events that a newly blocked domain would filter are not found.",
  what_if_fields: "Of other fields of a request only those are stored that a mapping named: stored events lack the others.",
  what_if_evidence: "Evidence that was switched off when a visit came was not looked for, and is not found.",
  sign_in_link_ended: "This link is no longer valid. Start the sign-in again.",
} as const;
