// How to get the credentials of a platform, and its test mode.

import type { ServerTexts } from "../../server.ts";

export const credentials: ServerTexts = {
  "{1} has no test mode: events of test keys are skipped.":
    "{1} hat keinen Testmodus: Ereignisse von Testschlüsseln werden übersprungen.",
  "Create a security profile for Login with Amazon, and apply for access to the Amazon Ads API with it. Amazon approves each client; nothing works before that.":
    "Legen Sie ein Sicherheitsprofil für Login with Amazon an, und beantragen Sie damit Zugang zur Amazon Ads API. Amazon genehmigt jeden Client; vorher funktioniert nichts.",
  "Copy the client id of the profile, and set up the app with its id and secret; then sign in as a user of the advertiser.":
    "Kopieren Sie die Client-ID des Profils, und richten Sie die App mit ihrer ID und ihrem Secret ein; melden Sie sich dann als Nutzer des Werbetreibenden an.",
  "In Amazon DSP, copy the number of the advertiser (its CFID, not the entity id).":
    "Kopieren Sie in Amazon DSP die Nummer des Werbetreibenden (seine CFID, nicht die Entity-ID).",
  "Choose the region of the advertiser's account, and the country of your customers.":
    "Wählen Sie die Region des Kontos und das Land Ihrer Kunden.",
  "In the AppLovin dashboard, open Keys and copy the event key: your pixel has the same one.":
    "Öffnen Sie im AppLovin-Dashboard die Seite Keys, und kopieren Sie den Ereignisschlüssel: Ihr Pixel hat denselben.",
  "Copy the Conversion API key from the same page; where it is missing, ask your representative or AppLovin's support for it.":
    "Kopieren Sie von derselben Seite den Conversion-API-Schlüssel; fehlt er, fragen Sie Ihren Ansprechpartner oder den Support von AppLovin.",
  "Set website to leads or restricted_leads if AppLovin set up your pixel for lead generation.":
    "Setzen Sie die Art der Website auf leads oder restricted_leads, wenn AppLovin Ihr Pixel für Leads eingerichtet hat.",
  "In Google Analytics open Admin > Data streams and choose your web stream. Copy the measurement id, which starts with G-.":
    "Öffnen Sie in Google Analytics Verwaltung > Datenstreams, und wählen Sie Ihren Web-Stream. Kopieren Sie die Mess-ID, die mit G- beginnt.",
  "On the same page open Measurement Protocol API secrets, accept the terms if asked, create a secret and copy its value.":
    "Öffnen Sie auf derselben Seite „Measurement Protocol API secrets“, akzeptieren Sie gegebenenfalls die Bedingungen, erstellen Sie ein Secret, und kopieren Sie seinen Wert.",
  "Mark the events that matter to you as key events under Admin > Events.":
    "Markieren Sie die Ereignisse, auf die es ankommt, unter Verwaltung > Ereignisse als Schlüsselereignisse.",
  "Optional: to learn which purchases Google counted, set up an OAuth app (cleancast oauth app set ga4 client_id=… client_secret=@file) in a Cloud project with the Google Analytics Data API, sign in (cleancast sign-in SITE ga4) with an account that may read the property, and set property_id.":
    "Optional: Um zu erfahren, welche Käufe Google gezählt hat, hinterlegen Sie eine OAuth-App (cleancast oauth app set ga4 client_id=… client_secret=@file) in einem Cloud-Projekt mit der Google Analytics Data API, melden Sie sich mit einem Konto an, das die Property lesen darf (cleancast sign-in SITE ga4), und setzen Sie property_id.",
  "In the Google Cloud console create a project, enable the Data Manager API in it, and create an OAuth client of the type web application.":
    "Legen Sie in der Google Cloud Console ein Projekt an, aktivieren Sie darin die Data Manager API, und erstellen Sie einen OAuth-Client vom Typ Webanwendung.",
  "Set the client's id and secret (cleancast oauth app set google_ads client_id=… client_secret=@file), then sign in (cleancast sign-in SITE google_ads) with a Google account that may edit the Google Ads account.":
    "Hinterlegen Sie ID und Secret des Clients (cleancast oauth app set google_ads client_id=… client_secret=@file), und melden Sie sich an (cleancast sign-in SITE google_ads), mit einem Google-Konto, das das Google-Ads-Konto bearbeiten darf.",
  "In Google Ads open Goals > Conversions and create a conversion action that imports from clicks. Its number is in the page's URL as ctId.":
    "Öffnen Sie in Google Ads Zielvorhaben > Conversions, und erstellen Sie eine Conversion-Aktion, die aus Klicks importiert. Ihre Nummer steht als ctId in der URL der Seite.",
  "Enter the customer id of the account that owns the action. If you access it through a manager account, enter that id too.":
    "Geben Sie die Kundennummer des Kontos ein, dem die Aktion gehört. Wenn Sie über ein Verwaltungskonto zugreifen, geben Sie auch dessen Nummer ein.",
  "In Campaign Manager, open Measurement and then Signals manager, and add a Direct API source.":
    "Öffnen Sie im Campaign Manager Messung und dann den Signals Manager, und fügen Sie eine Direct-API-Quelle hinzu.",
  "Generate an access token there and paste it here; or sign in, if your operator has set up a LinkedIn app that is approved for the Conversions API.":
    "Erzeugen Sie dort ein Zugriffstoken, und fügen Sie es hier ein; oder melden Sie sich an, wenn Ihr Betreiber eine LinkedIn-App eingerichtet hat, die für die Conversions API zugelassen ist.",
  "Create one conversion rule for each event that should count, with that source, and add it to your campaigns.":
    "Erstellen Sie für jedes Ereignis, das zählen soll, eine Conversion-Regel mit dieser Quelle, und fügen Sie sie Ihren Kampagnen hinzu.",
  "Enter the id of each rule: event.purchase=…, event.lead=…, or one default rule for all events.":
    "Geben Sie die ID jeder Regel ein: event.purchase=…, event.lead=…, oder eine Standardregel für alle Ereignisse.",
  "The number of the ad account is in Campaign Manager's URL and next to the account's name.":
    "Die Nummer des Werbekontos steht in der URL des Campaign Manager und neben dem Namen des Kontos.",
  "Open Events Manager at business.facebook.com/events_manager and choose the dataset (pixel) of your site.":
    "Öffnen Sie den Events Manager unter business.facebook.com/events_manager, und wählen Sie das Dataset (Pixel) Ihrer Website.",
  "Under Settings, copy the dataset id.": "Kopieren Sie unter Einstellungen die Dataset-ID.",
  "Further down, under Conversions API, choose to set it up with a direct integration and generate an access token; copy it at once, it is shown only there. Such a token does not expire and needs no app review.":
    "Wählen Sie weiter unten bei Conversions API die Einrichtung mit direkter Integration, und erzeugen Sie ein Zugriffstoken; kopieren Sie es sofort, es wird nur dort angezeigt. Ein solches Token läuft nicht ab und braucht keine App-Prüfung.",
  "For test events: copy the code on the page Test events.":
    "Für Testereignisse: Kopieren Sie den Code auf der Seite „Test events“.",
  "In Microsoft Advertising open Conversions > UET tag. Note the tag's number, edit the tag, go to the next page, choose Use Conversions API and copy the token. It may take 15 minutes until the token works.":
    "Öffnen Sie in Microsoft Advertising Conversions > UET-Tag. Notieren Sie die Nummer des Tags, bearbeiten Sie das Tag, gehen Sie zur nächsten Seite, wählen Sie „Use Conversions API“, und kopieren Sie das Token. Es kann 15 Minuten dauern, bis das Token gilt.",
  "Create an event conversion goal on that tag, with the action equal to the name under which the event is sent.":
    "Erstellen Sie zu diesem Tag ein Ereignisziel, dessen Aktion dem Namen gleicht, unter dem das Ereignis gesendet wird.",
  "For events older than 7 days create a goal for offline conversions too. Enter its exact name here, and the numbers of the ad account and the manager account.":
    "Für Ereignisse, die älter als 7 Tage sind, erstellen Sie auch ein Ziel für Offline-Conversions. Geben Sie hier seinen genauen Namen ein, dazu die Nummern von Werbekonto und Verwaltungskonto.",
  "For those also get a developer token in the developer portal, register a web application in Microsoft Entra, set its id and secret (cleancast oauth app set microsoft_ads client_id=… client_secret=@file), and sign in (cleancast sign-in SITE microsoft_ads).":
    "Dafür brauchen Sie auch ein Entwicklertoken aus dem Entwicklerportal und eine Webanwendung in Microsoft Entra. Hinterlegen Sie deren ID und Secret (cleancast oauth app set microsoft_ads client_id=… client_secret=@file), und melden Sie sich an (cleancast sign-in SITE microsoft_ads).",
  "If your account does not offer Use Conversions API yet, leave the tag token empty: every event is then sent as an offline conversion.":
    "Bietet Ihr Konto „Use Conversions API“ noch nicht an, lassen Sie das Token des Tags leer: Dann wird jedes Ereignis als Offline-Conversion gesendet.",
  "In Nextdoor Ads Manager, open Assets, Pixels, and copy the id of your pixel: it is the data source id.":
    "Öffnen Sie im Nextdoor Ads Manager Assets, Pixels, und kopieren Sie die ID Ihres Pixels: Sie ist die ID der Datenquelle.",
  "Open the account page of Ads Manager and generate an access token for the Conversion API; copy it.":
    "Öffnen Sie die Kontoseite des Ads Manager, erzeugen Sie ein Zugriffstoken für die Conversion API, und kopieren Sie es.",
  "Verify the domain of your website in Ads Manager: events with pages of other domains are rejected.":
    "Bestätigen Sie die Domain Ihrer Website im Ads Manager: Ereignisse mit Seiten anderer Domains werden abgelehnt.",
  "If Nextdoor gave you a partner id, enter it too.":
    "Wenn Nextdoor Ihnen eine Partner-ID gegeben hat, geben Sie auch diese ein.",
  "In OpenAI's Ads Manager, open the Conversions tab and copy the id of the pixel.":
    "Öffnen Sie im Ads Manager von OpenAI den Reiter Conversions, und kopieren Sie die ID des Pixels.",
  "On the same tab, create a Conversions API key; it is shown once. A key of the Advertiser API or of the OpenAI platform does not work here.":
    "Erstellen Sie auf demselben Reiter einen Conversions-API-Schlüssel; er wird einmal angezeigt. Ein Schlüssel der Advertiser API oder der OpenAI-Plattform funktioniert hier nicht.",
  "Create a conversion event setting for each type of event that you send (order_created, lead_created …) and attach it to your campaigns: OpenAI counts no other events.":
    "Erstellen Sie für jeden Ereignistyp, den Sie senden (order_created, lead_created …), eine Einstellung für Conversion-Ereignisse, und verbinden Sie sie mit Ihren Kampagnen: OpenAI zählt keine anderen Ereignisse.",
  "In Outbrain's dashboard, open Pixels, Conversions, and add an event-based conversion for each event that should count. Its name must be exactly the name that is sent: purchase for a purchase, unless you choose another with event.purchase=NAME.":
    "Öffnen Sie im Dashboard von Outbrain Pixels, Conversions, und fügen Sie für jedes Ereignis, das zählen soll, eine ereignisbasierte Conversion hinzu. Ihr Name muss genau der gesendete sein: purchase für einen Kauf, wenn Sie nicht mit event.purchase=NAME einen anderen wählen.",
  "Add ob_click_id={{ob_click_id}} to the tracking code of your campaigns. Without it, the dicbo that Outbrain adds itself is used.":
    "Fügen Sie dem Tracking-Code Ihrer Kampagnen ob_click_id={{ob_click_id}} hinzu. Ohne das wird die dicbo verwendet, die Outbrain selbst anhängt.",
  "There is nothing to paste: Outbrain finds the account by the click id.":
    "Es gibt nichts einzufügen: Outbrain findet das Konto durch die Klick-ID.",
  "Open Pinterest's Ads Manager as owner, admin, analyst, or with rights for audiences or campaigns.":
    "Öffnen Sie den Ads Manager von Pinterest als Owner, Admin, Analyst oder mit Rechten für Zielgruppen oder Kampagnen.",
  "Copy the number of the ad account: it is in the URL of Ads Manager after advertiser.":
    "Kopieren Sie die Nummer des Werbekontos: Sie steht in der URL des Ads Manager nach advertiser.",
  "Under Conversions, set up the API and generate a conversion token; copy it.":
    "Richten Sie unter Conversions die API ein, erzeugen Sie ein Conversion-Token, und kopieren Sie es.",
  "In Quora Ads Manager, copy the number of the ad account.": "Kopieren Sie im Quora Ads Manager die Nummer des Werbekontos.",
  "Open the Conversion API section and generate an access token; copy it.":
    "Öffnen Sie den Abschnitt Conversion API, erzeugen Sie ein Zugriffstoken, und kopieren Sie es.",
  "Enter the currency of the ad account: Quora reads every value in it.":
    "Geben Sie die Währung des Werbekontos ein: Quora liest jeden Wert in ihr.",
  "In Reddit Ads, open Events Manager; copy the id of the pixel; it often starts with a2_ or t2_.":
    "Öffnen Sie in Reddit Ads den Events Manager, und kopieren Sie die ID des Pixels; sie beginnt oft mit a2_ oder t2_.",
  "Under Conversions API, generate a conversion access token and paste it here. It is shown once, never expires, and a business may have five.":
    "Erzeugen Sie unter Conversions API ein Conversion-Zugriffstoken, und fügen Sie es hier ein. Es wird einmal angezeigt, läuft nie ab, und ein Unternehmen darf fünf haben.",
  "Or sign in, if your operator has set up a Reddit app with the scopes adsconversions and adsread; then the pixel can be chosen from a list.":
    "Oder melden Sie sich an, wenn Ihr Betreiber eine Reddit-App mit den Berechtigungen adsconversions und adsread eingerichtet hat; dann lässt sich das Pixel aus einer Liste wählen.",
  "For test events, open Event Testing in Events Manager and copy the test id from there.":
    "Öffnen Sie für Testereignisse im Events Manager Event Testing, und kopieren Sie die Test-ID.",
  "In Segment open Connections > Sources and add an HTTP API source, or choose an existing one.":
    "Öffnen Sie in Segment Connections > Sources, und fügen Sie eine HTTP-API-Quelle hinzu, oder wählen Sie eine vorhandene.",
  "Copy the write key from the source's Settings > API keys, and workspace and source from the URL of the page.":
    "Kopieren Sie den Write Key unter Settings > API keys der Quelle, und Workspace und Quelle aus der URL der Seite.",
  "Choose the region of your workspace. Events for a European workspace are lost if they go to the US host.":
    "Wählen Sie die Region Ihres Workspace. Ereignisse für einen europäischen Workspace gehen verloren, wenn sie an den US-Host gehen.",
  "For RudderStack enter the URL of your data plane and the write key of an HTTP source.":
    "Geben Sie für RudderStack die URL Ihrer Data Plane und den Write Key einer HTTP-Quelle ein.",
  "Open Ads Manager at ads.snapchat.com, then Events Manager, and copy the id of your Snap Pixel.":
    "Öffnen Sie den Ads Manager unter ads.snapchat.com, dann den Events Manager, und kopieren Sie die ID Ihres Snap Pixels.",
  "As an admin of the organisation open Business details and generate a Conversions API token; copy it.":
    "Öffnen Sie als Admin der Organisation die Business details, erzeugen Sie ein Conversions-API-Token, und kopieren Sie es.",
  "Pixel and token must belong to the same organisation.": "Pixel und Token müssen zur selben Organisation gehören.",
  "In Spotify Ads Manager, as a business admin, open Events, connect a data source and choose Conversions API.":
    "Öffnen Sie im Spotify Ads Manager als Business-Admin Events, verbinden Sie eine Datenquelle, und wählen Sie Conversions API.",
  "Put it into the same dataset as your Spotify Pixel, if you have one: otherwise both are counted.":
    "Legen Sie sie in dasselbe Dataset wie Ihr Spotify Pixel, falls Sie eines haben: Sonst werden beide gezählt.",
  "Choose the ad accounts, and select the dataset as the measurement source of your campaigns: Spotify attributes nothing otherwise.":
    "Wählen Sie die Werbekonten, und wählen Sie das Dataset als Messquelle Ihrer Kampagnen: Sonst ordnet Spotify nichts zu.",
  "Under View Conversions API instructions, copy the connection id, and generate a token; up to three can be active, and they do not expire.":
    "Kopieren Sie unter „View Conversions API instructions“ die Verbindungs-ID, und erzeugen Sie ein Token; bis zu drei können aktiv sein, und sie laufen nicht ab.",
  "In Realize, copy the number of the account, or of the network account if the conversions belong to several.":
    "Kopieren Sie in Realize die Nummer des Kontos, oder die des Netzwerkkontos, wenn die Conversions zu mehreren gehören.",
  "Under Tracking, create a conversion of the type EVENT for each event that should count. Its Event Name (not its Conversion Name) must be exactly the name that is sent: make_purchase for a purchase.":
    "Erstellen Sie unter Tracking für jedes Ereignis, das zählen soll, eine Conversion vom Typ EVENT. Ihr Event Name (nicht ihr Conversion Name) muss genau der gesendete Name sein: make_purchase für einen Kauf.",
  "If your definition has another name, choose that name: event.purchase=NAME.":
    "Hat Ihre Definition einen anderen Namen, wählen Sie diesen: event.purchase=NAME.",
  "Let Taboola add its click id to your landing pages under its usual name, tblci.":
    "Lassen Sie Taboola seine Klick-ID unter dem üblichen Namen tblci an Ihre Zielseiten anhängen.",
  "Open TikTok Ads Manager as an admin or operator of the ad account, then Tools and Events Manager.":
    "Öffnen Sie den TikTok Ads Manager als Admin oder Operator des Werbekontos, dann Tools und Events Manager.",
  "Choose the pixel of your site and copy its id of letters and digits.":
    "Wählen Sie das Pixel Ihrer Website, und kopieren Sie seine ID aus Buchstaben und Ziffern.",
  "Under Settings, Events API, generate an access token and copy it. It is long-lived.":
    "Erzeugen Sie unter Settings, Events API ein Zugriffstoken, und kopieren Sie es. Es ist langlebig.",
  "In X Ads, open Events Manager and choose your pixel; its id is next to its name.":
    "Öffnen Sie in X Ads den Events Manager, und wählen Sie Ihr Pixel; seine ID steht neben dem Namen.",
  "Choose the manual installation with the Conversion API and generate an access token: it is the pixel token to paste here.":
    "Wählen Sie die manuelle Installation mit der Conversion API, und erzeugen Sie ein Zugriffstoken: Das ist das Pixel-Token, das Sie hier einfügen.",
  "Without a pixel token, paste the four OAuth 1.0a keys of an app with access to the Ads API: consumer key and secret, access token and secret, of a user who manages the ad account. Create the access token after the app was approved.":
    "Ohne Pixel-Token fügen Sie die vier OAuth-1.0a-Schlüssel einer App mit Zugang zur Ads API ein: Consumer Key und Secret, Access Token und Secret eines Nutzers, der das Werbekonto verwaltet. Erstellen Sie das Access Token, nachdem die App genehmigt wurde.",
  "Create a single event tag for each event that should count, and enter its id: event.purchase=tw-…, or one default tag for all events.":
    "Erstellen Sie für jedes Ereignis, das zählen soll, ein Tag für ein einzelnes Ereignis, und geben Sie seine ID ein: event.purchase=tw-…, oder ein Standard-Tag für alle Ereignisse.",
  "Sent to Google's validation server, which reports errors and records nothing. It does not check the API secret.":
    "Wird an Googles Prüfserver gesendet, der Fehler meldet und nichts erfasst. Er prüft das API-Secret nicht.",
  "Sent with validateOnly: Google validates the request and stores nothing.":
    "Wird mit validateOnly gesendet: Google prüft die Anfrage und speichert nichts.",
  "Needs the test event code of the connection and shows on the page Test events. Use fictional people: Meta may count test events too.":
    "Braucht den Testereignis-Code der Verbindung und erscheint auf der Seite „Test events“. Verwenden Sie erfundene Personen: Meta zählt Testereignisse womöglich auch.",
  "Sent with test_event.": "Wird mit test_event gesendet.",
  "Sent with validate_only: OpenAI checks the event and stores nothing.":
    "Wird mit validate_only gesendet: OpenAI prüft das Ereignis und speichert nichts.",
  "Sent with test=true: Pinterest validates the event and records nothing.":
    "Wird mit test=true gesendet: Pinterest prüft das Ereignis und erfasst nichts.",
  "Sent to Event Testing with the connection's test id, one event per request; without a test id it is skipped.":
    "Wird mit der Test-ID der Verbindung an Event Testing gesendet, ein Ereignis pro Anfrage; ohne Test-ID wird es übersprungen.",
  "Segment has no test mode: test events are skipped. Check the source's debugger after a live event.":
    "Segment hat keinen Testmodus: Testereignisse werden übersprungen. Sehen Sie nach einem Live-Ereignis in den Debugger der Quelle.",
  "Sent to Snapchat's validation endpoint: checked, never counted.":
    "Wird an Snapchats Prüfendpunkt gesendet: geprüft, nie gezählt.",
  "Needs the test event code of the connection and shows on the page Test events. Test events never share a request with live ones.":
    "Braucht den Testereignis-Code der Verbindung und erscheint auf der Seite „Test events“. Testereignisse teilen sich nie eine Anfrage mit Live-Ereignissen.",
  "In the Google Cloud console create a project, enable the Data Manager API in it, and create an OAuth client of the type web application. The one of Google Ads can serve both.":
    "Legen Sie in der Google Cloud Console ein Projekt an, aktivieren Sie darin die Data Manager API, und erstellen Sie einen OAuth-Client vom Typ Webanwendung. Der von Google Ads kann für beide dienen.",
  "In Campaign Manager 360 open Admin > User profiles: the profile of the Google account that signs in needs access to the advertiser, and a role with the permission Insert offline conversions.":
    "Öffnen Sie in Campaign Manager 360 Verwaltung > Nutzerprofile: Das Profil des Google-Kontos, das sich anmeldet, braucht Zugriff auf den Werbetreibenden und eine Rolle mit der Berechtigung „Insert offline conversions“.",
  "Set the client's id and secret (cleancast oauth app set cm360 client_id=… client_secret=@file), then sign in (cleancast sign-in SITE cm360) with that account.":
    "Hinterlegen Sie ID und Secret des Clients (cleancast oauth app set cm360 client_id=… client_secret=@file), und melden Sie sich mit diesem Konto an (cleancast sign-in SITE cm360).",
  "Copy the id of the advertiser: it is the Floodlight configuration id. If the advertiser belongs to a parent advertiser, copy the id of the parent.":
    "Kopieren Sie die ID des Werbetreibenden: Sie ist die ID der Floodlight-Konfiguration. Gehört der Werbetreibende zu einem übergeordneten, kopieren Sie dessen ID.",
  "Open Floodlight > Activities, and create an activity for each kind of conversion. Its number is next to its name.":
    "Öffnen Sie Floodlight > Aktivitäten, und erstellen Sie für jede Art von Conversion eine Aktivität. Ihre Nummer steht neben ihrem Namen.",
};
