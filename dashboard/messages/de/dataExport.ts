import type { Translation } from "../catalogue/catalogue.ts";
import type { dataExportText } from "../dataExport.ts";

export const dataExport: Translation<typeof dataExportText> = {
  title: "Datenexport",
  about:
    "Stündliche Dateien mit Ereignissen, Zustellungen, Versuchen und ihren späteren Änderungen, für eigene Auswertungen. Sie enthalten keine Kontaktdaten. <link>Daten exportieren (englisch)</link>",
  emptyTitle: "Noch kein Datenexport",
  empty:
    "Wählen Sie einen Ordner oder einen S3-kompatiblen Bucket. Die Dateien einer Stunde werden 15 Minuten nach ihrem Ende geschrieben.",
  setUp: "Einrichten",
  change: "Ändern",
  retry: "Erneut versuchen",
  retrySoon: "Der Export wird innerhalb einer Minute erneut versucht.",
  remove: "Beenden",
  question: "Datenexport beenden?",
  consequence: "Geschriebene Dateien bleiben, wo sie sind. Änderungen, die ohne Export geschehen, stehen in keiner Datei.",
  folder: "Ordner des Betreibers",
  place: "Die Dateien gehen an <place/>.",
  next: "Die nächste Stunde wird <time/> geschrieben.",
  due: "Die nächste Stunde wird gerade oder innerhalb einer Minute geschrieben.",
  withPeople: "Die Dateien enthalten den SHA-256 von E-Mail-Adressen.",
  unreadable: "Das Ziel und seine Zugangsdaten sind nicht lesbar. Richten Sie den Export neu ein.",
  form: {
    title: "Datenexport",
    kind: "Ziel",
    kinds: { bucket: "S3-kompatibler Bucket", folder: "Ordner des Betreibers" },
    to: "Bucket und Präfix",
    endpoint: "Endpunkt",
    region: "Region",
    keyId: "Schlüssel-ID",
    secret: "Geheimer Schlüssel",
    secretKept: "Leer lassen, um den jetzigen zu behalten.",
    format: "Format",
    formats: { parquet: "Parquet", ndjson: "NDJSON" },
    examples: { to: "s3://my-bucket/cleancast", region: "us-east-1" },
    people: "SHA-256 von E-Mail-Adressen aufnehmen",
    aboutPeople: "Ohne ihn betreffen die Dateien keine Person. Was geschrieben ist, kann von hier aus nicht gelöscht werden.",
    since: "Auch die Vergangenheit exportieren seit",
    save: "Speichern",
    saved: "Gespeichert. Der Export beginnt innerhalb einer Minute.",
  },
  runs: {
    title: "Letzte Stunden",
    empty: "Es wurde noch keine Stunde geschrieben.",
    hour: "Stunde",
    written: "Geschrieben",
    files: "Dateien",
    rows: "Zeilen",
    size: "Größe",
    kilobytes: (count) => `${count} KB`,
  },
  query: {
    title: "Abfrage für DuckDB",
    about:
      "Conversions und ihr Wert nach Plattform und jetzigem Status. Setzen Sie Ihren geheimen Schlüssel ein, wenn danach gefragt wird.",
  },
};
