// Texts that several platforms have.

export const settings = {
  access_token: {
    label: "Zugriffstoken",
    help: "Wird durch die Anmeldung gefüllt. Ein eingefügtes Token braucht die Berechtigung datamanager und läuft nach einer Stunde ab.",
  },
  dedup_id: {
    label: "Deduplizierungs-ID",
    help: "Welche ID die Plattform mit der Ihres Pixels vergleicht: event (die ID, die cc.eventId im Browser gibt) oder order (die Bestellnummer, falls vorhanden).",
  },
  event_source: {
    label: "Ereignisquelle",
    help: "Wo Ihre Conversions stattfinden: WEB, APP, IN_STORE, PHONE, MESSAGE, OTHER.",
  },
  expires_at: {
    label: "Zugriffstoken läuft ab",
    help: "Wann das Zugriffstoken abläuft, als Unix-Zeit in Millisekunden; wird durch die Anmeldung gefüllt.",
  },
  limited_data: {
    label: "Eingeschränkte Datennutzung",
    help: "denied: schränkt die Nutzung von Ereignissen ein, deren Personen abgelehnt haben, falls solche überhaupt gesendet werden. always: schränkt jedes Ereignis ein, was manche Gesetze der USA verlangen.",
  },
  numeric_order_ids: {
    label: "Bestellnummern nur aus Ziffern",
    help: "as_given sendet 1001, die Nummer, die auch das Google-Tag meldet. prefixed sendet 1001 als order-1001: Wählen Sie das, wenn frühere Conversions unter solchen Nummern gesendet wurden.",
  },
  refresh_token: {
    label: "Refresh-Token",
    help: "Wird durch die Anmeldung gefüllt; erneuert das Zugriffstoken, bevor es abläuft.",
  },
  test_event_code: {
    label: "Testereignis-Code",
    help: "Der Code von der Seite der Plattform für Testereignisse. Nur Ereignisse mit einem Testschlüssel tragen ihn.",
  },
};

export const fields = {
  "custom_data.content_category": "Kategorie der Seite oder des Produkts.",
  "custom_data.content_ids": "IDs der Produkte, durch Kommas getrennt.",
  "custom_data.content_name": "Name der Seite oder des Produkts.",
  "custom_data.num_items": "Wie viele Artikel.",
  "custom_data.search_string": "Wonach die Person gesucht hat.",
  "properties.query": "Wonach die Person gesucht hat.",
  "user_data.country": "Land: sein englischer Name oder zwei Buchstaben (Germany, DE); wird vor dem Senden gehasht.",
  "user_data.ct": "Ort; wird vor dem Senden gehasht.",
  "user_data.external_id": "Ihre eigene ID der Person, wie Ihr Pixel sie hat; wird vor dem Senden gehasht.",
  "user_data.st": "Bundesstaat oder Provinz: in den USA und Kanada der Name oder der Code; wird vor dem Senden gehasht.",
  "user_data.zp": "Postleitzahl; wird vor dem Senden gehasht.",
};
