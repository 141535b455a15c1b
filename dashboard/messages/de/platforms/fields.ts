// Fields of platforms that can be mapped.

import type { ServerTexts } from "../../server.ts";

export const fields: ServerTexts = {
  "Where it happened: {1}.": "Wo es stattfand: {1}.",
  "The type of customer: NEW, RETURNING, REENGAGED.": "Die Art des Kunden: NEW, RETURNING, REENGAGED.",
  "A custom property, meant for {1}.": "Eine eigene Eigenschaft, gedacht für {1}.",
  "For remarketing: cart, category, home, other, product, purchase, searchresults.":
    "Für Remarketing: cart, category, home, other, product, purchase, searchresults.",
  "Street and number; hashed before it is sent.": "Straße und Hausnummer; wird vor dem Senden gehasht.",
  "City; hashed before it is sent.": "Ort; wird vor dem Senden gehasht.",
  "State or province; hashed before it is sent.": "Bundesstaat oder Provinz; wird vor dem Senden gehasht.",
  "Postal code; hashed before it is sent.": "Postleitzahl; wird vor dem Senden gehasht.",
  "Your own id of the person, as the Amazon Ad Tag sends it.":
    "Ihre eigene ID der Person, wie das Amazon Ad Tag sie sendet.",
  "Country of the conversion as two letters (US), instead of the connection's.":
    "Land der Conversion als zwei Buchstaben (US), statt des Lands der Verbindung.",
  "How many items were bought, with a purchase: a whole number above zero.":
    "Wie viele Artikel gekauft wurden, bei einem Kauf: eine ganze Zahl größer als null.",
  "Your own id of the person, as your pixel has it; at least six characters.":
    "Ihre eigene ID der Person, wie Ihr Pixel sie hat; mindestens sechs Zeichen.",
  "Country as two letters (US).": "Land als zwei Buchstaben (US).",
  "Postal code; the first five digits of a US code.":
    "Postleitzahl; bei einer in den USA die ersten fünf Ziffern.",
  "The cost of shipping of a purchase.": "Die Versandkosten eines Kaufs.",
  "The tax of a purchase.": "Die Steuer eines Kaufs.",
  "Your own id of the person; must not identify the person.":
    "Ihre eigene ID der Person; sie darf die Person nicht erkennbar machen.",
  "The shop or partner that made the sale.": "Das Geschäft oder der Partner, der verkauft hat.",
  "The coupon of the order.": "Der Gutschein der Bestellung.",
  "The cost of shipping.": "Die Versandkosten.",
  "The tax of the order.": "Die Steuer der Bestellung.",
  "How the person signed up.": "Wie sich die Person registriert hat.",
  "Where a lead came from.": "Woher ein Lead kam.",
  "What the person searched for.": "Wonach die Person gesucht hat.",
  "The type of customer: new or returning.": "Die Art des Kunden: new oder returning.",
  "The URL of the page.": "Die URL der Seite.",
  "The page before it.": "Die Seite davor.",
  "The title of the page.": "Der Titel der Seite.",
  "A custom parameter for the campaign.": "Ein eigener Parameter für die Kampagne.",
  "A custom parameter for the source.": "Ein eigener Parameter für die Quelle.",
  "A custom parameter for the medium.": "Ein eigener Parameter für das Medium.",
  "The value, in place of the event's own.": "Der Wert, anstelle des Werts des Ereignisses.",
  "The value in place of the event's own: a fixed one for leads, for example.":
    "Der Wert anstelle des Werts des Ereignisses: zum Beispiel ein fester für Leads.",
  "The currency in place of the event's own, three letters.":
    "Die Währung anstelle der des Ereignisses, drei Buchstaben.",
  "The id of a lead from a form on Facebook or Instagram, as Meta gave it: digits.":
    "Die ID eines Leads aus einem Formular auf Facebook oder Instagram, wie Meta sie vergeben hat: Ziffern.",
  "Name of the page or product.": "Name der Seite oder des Produkts.",
  "Category of the page or product.": "Kategorie der Seite oder des Produkts.",
  "product or product_group.": "product oder product_group.",
  "Ids of the products, separated by commas.": "IDs der Produkte, durch Kommas getrennt.",
  "How many items.": "Wie viele Artikel.",
  "The expected value of the customer.": "Der erwartete Wert des Kunden.",
  "The status of a registration.": "Der Status einer Registrierung.",
  "The name of the CRM that the event comes from.": "Der Name des CRM, aus dem das Ereignis kommt.",
  "crm, where the event comes from a CRM.": "crm, wenn das Ereignis aus einem CRM kommt.",
  "The category that a goal matches.": "Die Kategorie, auf die ein Ziel passt.",
  "The label that a goal matches.": "Das Label, auf das ein Ziel passt.",
  "The value that a goal matches; not the revenue.": "Der Wert, auf den ein Ziel passt; nicht der Umsatz.",
  "For remarketing: the id of the category.": "Für Remarketing: die ID der Kategorie.",
  "For remarketing: the total of the cart.": "Für Remarketing: die Summe des Warenkorbs.",
  "Your own id of the person, as your pixel has it; hashed before it is sent.":
    "Ihre eigene ID der Person, wie Ihr Pixel sie hat; wird vor dem Senden gehasht.",
  "Country; hashed before it is sent.": "Land; wird vor dem Senden gehasht.",
  "in_store, curbside or home_delivery.": "in_store, curbside oder home_delivery.",
  "Country as two letters (DE).": "Land als zwei Buchstaben (DE).",
  "State or region; OpenAI accepts it unhashed.": "Bundesland oder Region; OpenAI nimmt es ungehasht an.",
  "City; OpenAI accepts it unhashed.": "Ort; OpenAI nimmt ihn ungehasht an.",
  "Postal code; OpenAI accepts it unhashed.": "Postleitzahl; OpenAI nimmt sie ungehasht an.",
  "Brand of the product.": "Marke des Produkts.",
  "Country; Quora accepts it unhashed.": "Land; Quora nimmt es ungehasht an.",
  "State or region; Quora accepts it unhashed.": "Bundesland oder Region; Quora nimmt es ungehasht an.",
  "City; Quora accepts it unhashed.": "Ort; Quora nimmt ihn ungehasht an.",
  "Language of the browser, like en-US.": "Sprache des Browsers, wie en-US.",
  "How many items: a whole number. Sent with purchases, carts, wish lists and custom events.":
    "Wie viele Artikel: eine ganze Zahl. Wird mit Käufen, Warenkörben, Wunschlisten und eigenen Ereignissen gesendet.",
  "Your own id of the person; hashed before it is sent.":
    "Ihre eigene ID der Person; wird vor dem Senden gehasht.",
  "Your own id of the person.": "Ihre eigene ID der Person.",
  "The id that your website's Segment script gave the browser.":
    "Die ID, die das Segment-Skript Ihrer Website dem Browser gegeben hat.",
  "The account that the person belongs to.": "Das Konto, zu dem die Person gehört.",
  "The discount of the order.": "Der Rabatt der Bestellung.",
  "The order's value without shipping and tax.": "Der Wert der Bestellung ohne Versand und Steuer.",
  "A category for your reports.": "Eine Kategorie für Ihre Berichte.",
  "A label for your reports.": "Ein Label für Ihre Berichte.",
  "The plan that was bought.": "Der gekaufte Tarif.",
  "State or province: the name or the code in the United States and Canada; hashed before it is sent.":
    "Bundesstaat oder Provinz: in den USA und Kanada der Name oder der Code; wird vor dem Senden gehasht.",
  "Country: its English name or two letters (Germany, DE); hashed before it is sent.":
    "Land: sein englischer Name oder zwei Buchstaben (Germany, DE); wird vor dem Senden gehasht.",
  "Categories of the products, separated by commas.": "Kategorien der Produkte, durch Kommas getrennt.",
  "Name of the product or page.": "Name des Produkts oder der Seite.",
  "How many items were bought: a whole number above zero.":
    "Wie viele Artikel gekauft wurden: eine ganze Zahl größer als null.",
  "City; TikTok accepts it unhashed.": "Ort; TikTok nimmt ihn ungehasht an.",
  "State; TikTok accepts it unhashed.": "Bundesland; TikTok nimmt es ungehasht an.",
  "Country; TikTok accepts it unhashed.": "Land; TikTok nimmt es ungehasht an.",
  "A text about the event.": "Ein Text über das Ereignis.",
  "What was searched for.": "Wonach gesucht wurde.",
  "Anything else about the conversion, the order id for example.":
    "Alles andere über die Conversion, zum Beispiel die Bestellnummer.",
};
