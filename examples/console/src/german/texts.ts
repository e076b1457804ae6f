import { isolated } from '../isolated.ts'
import type { Texts } from '../texts.ts'
import { withoutNone } from '../without-none.ts'

/** `1 Produkt`, `2 Produkte`. */
const counted = (count: number, one: string, several: string): string => `${count} ${count === 1 ? one : several}`

const PRODUCTS = ['Produkt', 'Produkte'] as const
/** After `von`, `aus`, `bei`. */
const OF_PRODUCTS = ['Produkt', 'Produkten'] as const
const CHANGES = ['Änderung', 'Änderungen'] as const
const ACCOUNTS = ['Konto', 'Konten'] as const

/** What the server calls records in its messages, where it differs from the names of their kinds. */
const GONE: Readonly<Record<string, string>> = { key: 'API-Schlüssel', import: 'Import', change: 'Änderung' }

/** Every text of the console, in German. */
export const german: Texts = {
  product: 'Shop-Konsole',
  errors: {
    connection: 'Der Server ist nicht erreichbar. Alle Eingaben bleiben erhalten: später mit Verbindung noch einmal ' +
      'versuchen.',
    notSent: 'Keine Verbindung, daher wurde nichts gesendet. Alle Eingaben bleiben erhalten: später mit Verbindung ' +
      'noch einmal versuchen.',
    lost: 'Die Verbindung brach ab, bevor der Server geantwortet hat.',
    cut: 'Die Antwort des Servers kam unvollständig an.',
    outcomes: {
      open: 'Es kann trotzdem erledigt sein: vor dem Wiederholen bitte nachsehen.',
      late: 'Es kann noch in Arbeit sein: kurz warten und vor dem Wiederholen nachsehen, ob es erledigt ist.',
      done: 'Es ist erledigt: nicht wiederholen, sondern die Seite neu laden.'
    },
    unreadable: 'Unerwartete Antwort des Servers mit Status',
    status: (status) => `Status ${status}`,
    withRequest: (message, id) => `${message} (Anfrage ${id})`,
    ofField: (field, rest) => `${field}: ${rest}`,
    title: 'Das hat nicht funktioniert',
    number: (field) => `${field}: bitte eine Zahl eingeben, zum Beispiel 12,50`,
    changed: 'Inzwischen von anderen geändert, daher ist nichts passiert. Bitte den aktuellen Stand ansehen und neu ' +
      'entscheiden.',
    gone: (kind) => `${GONE[kind] ?? kind} nicht mehr vorhanden: gelöscht, oder kein Zugriff mehr.`,
    halfTyped: 'Unvollständig: bitte ergänzen oder das Feld leeren.',
    again: 'Noch einmal versuchen',
    notRead: (why) => `Diese Seite wurde nicht vollständig geladen. ${why}`,
    offline: 'Keine Verbindung. Die Anzeige kann veraltet sein, und Änderungen werden nicht gesendet. Die Seite ' +
      'arbeitet von selbst weiter, sobald die Verbindung wieder da ist.',
    noShop: 'Diesen Shop gibt es nicht, oder es fehlt die Mitgliedschaft.',
    noPage: 'Seite nicht gefunden',
    noPageAt: (path) =>
      `Unter ${path} gibt es keine Seite. Die Adresse ist vielleicht falsch geschrieben, oder die Seite wurde entfernt.`,
    back: 'Zurück zum Start'
  },
  session: {
    signingIn: 'Anmeldung läuft…',
    signedOut: 'Abgemeldet',
    signedOutWhy: 'Die Zugangstoken sind gelöscht. Die nächste Anmeldung fragt nach dem Passwort.',
    signIn: 'Anmelden',
    failed: 'Die Anmeldung ist fehlgeschlagen',
    ended: 'Die Sitzung ist abgelaufen',
    endedNotSent: 'Die Sitzung ist abgelaufen, daher wurde nichts gesendet. Bitte neu anmelden und wiederholen.',
    endedStill: 'Die Sitzung ist abgelaufen: bis zur neuen Anmeldung wird nichts geladen oder gespeichert.',
    endedWhy: 'Bitte in einem kleinen Fenster neu anmelden. Diese Seite bleibt mit allen Eingaben, wie sie ist.',
    signInAgain: 'Neu anmelden',
    later: 'Nicht jetzt',
    blocked: 'Das Fenster wurde blockiert oder geschlossen. Bitte Pop-ups für diese Seite erlauben und noch einmal ' +
      'versuchen.',
    signOut: 'Abmelden'
  },
  noShops: {
    title: (name) => `Hallo ${isolated(name)}`,
    why:
      'Noch keine Mitgliedschaft in einem Shop. Wer Inhaber des Shops ist, kann Mitglieder mit dieser ID hinzufügen:',
    copy: 'Eigene ID kopieren'
  },
  saved: {
    created: (kind) => `${kind} erstellt`,
    updated: (kind) => `${kind} gespeichert`,
    since: 'Spätere Eingaben sind noch nicht gespeichert'
  },
  unsaved: {
    title: 'Eingaben verwerfen?',
    why: 'Sie sind noch nicht gespeichert.',
    keep: 'Weiter bearbeiten',
    discard: 'Verwerfen'
  },
  ask: {
    back: 'Zurück',
    delete: (name) => `${isolated(name)} löschen?`,
    deleteIt: 'Löschen',
    deleted: (name) => `${isolated(name)} gelöscht`,
    canBeUndone: 'Unter „Aktivität“ lässt sich das rückgängig machen.'
  },
  conflicts: {
    title: 'Seit dem Öffnen geändert',
    why: 'Andere haben dieselben Felder geändert. Alles Übrige bleibt erhalten, auf beiden Seiten.',
    by: (who, at) => `Geändert von ${isolated(who)}, ${at}`,
    mine: (value) => `Eigenen Wert behalten: ${value}`,
    theirs: (value) => `Anderen Wert übernehmen: ${value}`,
    back: 'Zurück zum Formular',
    save: 'Speichern'
  },
  copy: {
    copy: 'Kopieren',
    copied: 'Kopiert',
    failed: 'Kopieren ist hier nicht erlaubt: bitte den Text markieren'
  },
  layout: {
    shops: 'Shop wechseln',
    findShop: 'Shop suchen',
    administration: 'Verwaltung',
    archived: 'archiviert',
    documentation: 'API-Dokumentation',
    yourId: 'Eigene ID',
    loading: 'Lädt'
  },
  menu: {
    home: 'Start',
    catalog: 'Katalog',
    agents: 'Agenten',
    work: 'Verkauf',
    shop: 'Shop',
    products: 'Produkte',
    imports: 'Importe',
    categories: 'Kategorien',
    tags: 'Schlagwörter',
    attributes: 'Attribute',
    keys: 'API-Schlüssel',
    activity: 'Aktivität',
    orders: 'Bestellungen',
    accounts: 'Konten',
    members: 'Mitglieder',
    settings: 'Einstellungen',
    shops: 'Shops',
    people: 'Personen',
    reconciliation: 'Zahlungskonten',
    runs: 'Abgleiche',
    unlinked: 'Nicht verknüpfte Kunden',
    payKeys: 'Zahlungsschlüssel',
    audit: 'Änderungen',
    all: 'Alle Shops'
  },
  status: {
    draft: 'Entwurf',
    active: 'Aktiv',
    archived: 'Archiviert',
    expired: 'Abgelaufen',
    revoked: 'Widerrufen',
    refused: 'Abgelehnt',
    pending: 'Offen',
    paid: 'Bezahlt',
    fulfilled: 'Ausgeführt',
    cancelled: 'Storniert'
  },
  filters: {
    title: 'Filter',
    clear: 'Alle entfernen',
    nothing: 'Kein Treffer mit diesen Filtern',
    clearFilters: 'Filter entfernen',
    apply: 'Anwenden',
    from: 'Von',
    to: 'Bis',
    price: 'Preis',
    anyCurrency: 'jede Währung,',
    severalCurrencies: 'Diese Preise haben verschiedene Währungen. Sortiert wird nach der Zahl, was wenig aussagt.',
    only: (currency) => `Nur ${currency}`,
    status: 'Status',
    category: 'Kategorie',
    tag: 'Schlagwort',
    find: 'In der Auswahl suchen',
    more: (count) => `+${count}`
  },
  products: {
    create: 'Neues Produkt',
    export: 'Exportieren',
    search: 'Name, Artikelnummer oder Beschreibung suchen',
    empty: 'Noch keine Produkte',
    emptyWhy: 'Das erste hier anlegen oder von einem Agenten anlegen lassen.',
    basics: 'Grunddaten',
    selling: 'Preis und Artikelnummer',
    organisation: 'Einordnung',
    attributes: 'Attribute',
    priceHelp: 'Leer, solange es nicht verkauft wird',
    badPrice: (currency, such) => `Bitte einen Preis in ${currency} eingeben, zum Beispiel ${such}`,
    slugHelp: 'Teil der Adresse; leer: aus dem Namen gebildet',
    statusHelp: 'Nur aktive Produkte sind im Verkauf',
    addAttribute: 'Attribut hinzufügen',
    noAttributes: 'Noch keine Attribute.',
    pictures: 'Bilder',
    picturesHelp:
      'Adressen, die mit https:// beginnen, oder Pfade dieses Servers wie /pictures/kettle.svg. Das Hauptbild ' +
      'zuerst, höchstens zehn.',
    picture: (place) => place === 1 ? 'Hauptbild' : `Bild ${place}`,
    addPicture: 'Bild hinzufügen',
    pictureUp: (place) => `Bild ${place} nach oben`,
    removePicture: (place) => `Bild ${place} entfernen`,
    removeAttribute: (name) => `${isolated(name)} entfernen`,
    yes: 'Ja',
    no: 'Nein',
    createTag: (name) => `Schlagwort „${isolated(name)}“ anlegen`,
    history: 'Verlauf dieses Produkts',
    bulk: {
      status: 'Status setzen',
      tags: 'Schlagwörter ändern',
      add: 'Diese hinzufügen',
      remove: 'Diese entfernen',
      apply: 'Anwenden',
      askStatus: (count, status) => `Status von ${counted(count, ...OF_PRODUCTS)} auf „${status}“ setzen?`,
      done: (count, gone) =>
        `${counted(count, ...PRODUCTS)} geändert${gone === 0 ? '' : `, ${gone} nicht mehr vorhanden`}`,
      stopped: ({ changed, open, count }, why) => {
        const maybe = open === 0 ? '' : `, ${open} weitere möglicherweise auch`
        return `${changed} von ${counted(count, ...OF_PRODUCTS)} geändert${maybe}. Nicht geänderte bleiben ` +
          `ausgewählt: ${why}`
      },
      all: (most) => `Die ersten ${most} auswählen`,
      title: (count) => `Schlagwörter von ${counted(count, ...OF_PRODUCTS)}`,
      progress: (done, count) => `${done} von ${count}`
    }
  },
  prices: {
    title: 'Preise im Zeitverlauf',
    why: 'Es gilt der Preis des Produkts, solange keiner von diesen in Kraft ist.',
    add: 'Preis hinzufügen',
    edit: 'Preis ändern',
    none: 'Keine weiteren Preise: es gilt immer der Preis des Produkts.',
    always: 'ohne Ende',
    ever: 'ohne Beginn',
    now: 'in Kraft',
    chart: (currency) => `Stückpreis in ${currency}`,
    amount: 'Preis',
    quantity: 'Ab Menge',
    quantityHelp: 'Bestellpositionen mit mindestens dieser Menge',
    starts: 'Beginn',
    ends: 'Ende',
    zone: (zone) => `Zeit in ${zone}; leer: unbegrenzt`,
    save: 'Speichern',
    remove: 'Diesen Preis löschen',
    removeTitle: (price) => `Preis von ${price} löschen?`,
    removeWhy:
      'Ab dann gilt der Preis des Produkts, wenn kein anderer in Kraft ist. Unter „Aktivität“ lässt sich das ' +
      'rückgängig machen.',
    today: 'Jetzt'
  },
  categories: {
    title: 'Kategorien',
    add: 'Neue Kategorie',
    addBelow: (name) => `Neue Kategorie unter ${isolated(name)}`,
    edit: (name) => `${isolated(name)} bearbeiten`,
    up: (name) => `${isolated(name)} nach oben`,
    down: (name) => `${isolated(name)} nach unten`,
    move: (name) => `${isolated(name)} verschieben`,
    remove: (name) => `${isolated(name)} löschen`,
    removeWhy: 'Die Produkte bleiben. Unterkategorien rücken auf die oberste Ebene. Unter „Aktivität“ lässt sich das ' +
      'rückgängig machen.',
    top: 'Oberste Ebene',
    under: 'Unter',
    name: 'Name',
    slug: 'Slug',
    description: 'Beschreibung',
    none: 'Noch keine Kategorien.',
    help: 'Mit den Pfeilen oder durch Ziehen anordnen; „verschieben“ ändert die übergeordnete Kategorie.',
    expand: (name) => `Unterkategorien von ${isolated(name)} anzeigen`,
    collapse: (name) => `Unterkategorien von ${isolated(name)} ausblenden`,
    moved: (name) => `${isolated(name)} verschoben`,
    movedPartly: (name, why) =>
      `${isolated(name)} verschoben, aber nicht alle Kategorien daneben haben ihren neuen Platz: ${why}`,
    more: (shown, total) => `${shown} von ${total} Kategorien.`,
    save: 'Speichern'
  },
  tags: {
    create: 'Neues Schlagwort',
    search: 'Schlagwörter suchen',
    empty: 'Noch keine Schlagwörter',
    emptyWhy: 'Schlagwörter kennzeichnen Produkte, zum Beispiel „Bestseller“.'
  },
  attributes: {
    create: 'Neues Attribut',
    search: 'Attribute suchen',
    empty: 'Noch keine Attribute',
    emptyWhy: 'Attribute beschreiben Produkte, zum Beispiel Größe oder Material.',
    types: { text: 'Text', number: 'Zahl', boolean: 'Ja oder nein', select: 'Auswahl' },
    options: 'Auswahlwerte',
    optionsHelp: 'Eintippen und mit der Eingabetaste bestätigen',
    codeHelp: 'Für Programme; leer: aus dem Namen gebildet',
    unitHelp: 'Zum Beispiel cm, g oder l'
  },
  keys: {
    title: 'API-Schlüssel',
    why: 'Jeder Agent bekommt einen eigenen Schlüssel, der nur erlaubt, was er braucht.',
    create: 'Neuer Schlüssel',
    search: 'Name oder Präfix suchen',
    empty: 'Noch keine Schlüssel',
    emptyWhy: 'Mit einem Schlüssel arbeitet ein Agent in diesem Shop. Was er darf und wie lange, ist wählbar.',
    name: 'Name',
    nameHelp: 'Wer ihn wofür verwendet: „Preisbeobachter“',
    scopes: 'Was er darf',
    presets: {
      read: 'Katalog lesen',
      readWhy: 'Alle Tools, die Daten auflisten oder abrufen',
      write: 'Katalog lesen und ändern',
      writeWhy: 'Alle Tools, auch solche, die löschen',
      some: 'Nur bestimmte Tools',
      someWhy: 'Einzeln auswählen',
      all: 'Alles, was mit Schlüsseln geht',
      allWhy: 'Auch, was später dazukommt. Nicht empfohlen'
    },
    reads: 'Lesen',
    writes: 'Ändern',
    deletes: 'Löschen',
    noTools: 'Bitte mindestens ein Tool auswählen',
    noName: 'Bitte einen Namen eingeben',
    expires: 'Läuft ab',
    expiry: {
      day: 'In einem Tag',
      week: 'In einer Woche',
      month: 'In 30 Tagen',
      quarter: 'In 90 Tagen',
      year: 'In einem Jahr',
      date: 'An einem Datum',
      never: 'Nie'
    },
    endOfDay: (zone) => `Bis zum Ende des Tages in ${zone}`,
    neverWhy: 'Er gilt, bis ihn jemand widerruft.',
    submit: 'Schlüssel erstellen',
    ready: 'Der Schlüssel ist bereit',
    readyWhy: 'Jetzt kopieren: er wird nicht noch einmal angezeigt.',
    key: 'API-Schlüssel',
    connect: 'Client verbinden',
    done: 'Fertig',
    unsaved: 'Schließen, ohne den Schlüssel zu kopieren?',
    rotate: 'Rotieren',
    rotateTitle: (name) => `„${isolated(name)}“ rotieren?`,
    rotateWhy: 'Ein Nachfolger mit demselben Namen und denselben Rechten wird erstellt. Der alte Schlüssel gilt, bis ' +
      'die Übergangszeit endet.',
    grace: 'Der alte Schlüssel gilt noch',
    graces: { now: 'nicht mehr', hour: 'eine Stunde', day: 'einen Tag', week: 'eine Woche' },
    revoke: 'Widerrufen',
    revokeTitle: (name) => `„${isolated(name)}“ widerrufen?`,
    revokeWhy: 'Der nächste Aufruf mit diesem Schlüssel wird abgelehnt. Das lässt sich nicht rückgängig machen.',
    revoked: (name) => `„${isolated(name)}“ widerrufen`,
    activity: 'Was damit geändert wurde',
    never: 'nie',
    ended: { revoked: 'Widerrufen', expired: 'Abgelaufen', replaced: 'Ersetzt' },
    endedOn: (how, date) => `${how} am ${date}`,
    from: (network) => `aus ${network}`,
    everything: 'Alles',
    actions: (name) => `Aktionen für ${isolated(name)}`,
    ownersOnly: 'Nur Inhaber erstellen, rotieren und widerrufen Schlüssel.',
    waiting: 'Warten auf den ersten Aufruf…',
    connectedAs: (client) => `Verbunden als ${client}.`,
    noCall: 'Noch wurde kein Tool aufgerufen.',
    called: (tool) => `${tool} wurde aufgerufen.`,
    used: 'Der Schlüssel wurde verwendet.',
    undoAll: 'Änderungen rückgängig machen',
    about: 'Über diesen Schlüssel',
    clients: 'Clients',
    noClients: 'noch keine',
    calls: 'Tool-Aufrufe',
    callsWhy: 'In den letzten 14 Tagen',
    counts: (calls, errors, count) =>
      count === 0
        ? 'In den letzten 14 Tagen wurde kein Tool aufgerufen.'
        : `${calls} ${count === 1 ? 'Aufruf' : 'Aufrufe'} in den letzten 14 Tagen, ${errors} Fehler`,
    day: 'Tag',
    tool: 'Tool',
    callColumns: ['Aufrufe', 'Fehler'],
    failed: 'Fehlgeschlagene Aufrufe',
    failedWhy: (count) =>
      `${count === 1 ? 'Der letzte' : `Die letzten ${count}`}. Lange Werte sind gekürzt, Geheimnisse ausgelassen.`,
    noneKept: 'Davon ist keiner aufbewahrt.',
    notSent: 'vor der Ausführung abgelehnt',
    status: (status) => `Status ${status}`,
    arguments: 'Argumente',
    changes: 'Letzte Änderungen',
    allChanges: 'Alle Änderungen',
    history: 'Verlauf dieses Schlüssels',
    noChanges: 'Damit wurde nichts geändert.'
  },
  imports: {
    open: 'Importieren',
    title: 'Importe',
    why: 'Viele Produkte mit einer Datei anlegen und ändern.',
    new: 'Datei importieren',
    newWhy: 'CSV mit einer Zeile für die Spaltennamen, oder JSON Lines; höchstens 10.000 Produkte. Zuerst wird ' +
      'geprüft: nichts ändert sich vor der Bestätigung. Ein Export von Produkten zeigt die Spalten.',
    choose: 'Datei auswählen',
    unknown: 'Das ist keine Produktliste: bitte eine Datei mit der Endung .csv oder .jsonl auswählen.',
    would: ({ total, created, updated, unchanged, price_changes: prices, failed }) => {
      const parts = withoutNone([
        [created, 'neu'],
        [updated, prices === 0 ? 'geändert' : `geändert (davon ${prices} im Preis)`],
        [unchanged, 'unverändert'],
        [failed, 'fehlerhaft']
      ])
      return `${counted(total, ...PRODUCTS)} in der Datei${parts === '' ? '' : `: ${parts}`}.`
    },
    prices: (currency, after, before) =>
      `Preise in ${currency}: ${after}${before === null ? '' : `; geänderte bisher ${before}`}.`,
    range: (lowest, highest) => lowest === highest ? lowest : `${lowest} bis ${highest}`,
    changedPrice: (name, before, after) => `${isolated(name)}: ${before} → ${after ?? 'kein Preis'}`,
    showWrong: (shown, count) => shown === count ? `Alle ${count} zeigen` : `Die ersten ${shown} von ${count} zeigen`,
    showFewer: 'Weniger zeigen',
    wrong: 'Fehlerhafte Zeilen',
    wrongColumns: ['Zeile', 'Was nicht stimmt'],
    skip: (count, columns) => {
      const lines = columns > 0 ? count - 1 : count
      const what = [
        ...columns > 0 ? [columns === 1 ? 'Die unbekannte Spalte' : `Diese ${columns} Spalten`] : [],
        ...lines > 0 ? [lines === 1 ? 'die fehlerhafte Zeile' : `die ${lines} fehlerhaften Zeilen`] : []
      ].join(' und ')
      return `${what.charAt(0).toUpperCase()}${what.slice(1)} auslassen`
    },
    start: 'Importieren',
    sent: 'Der Import hat begonnen',
    none: 'Noch wurde nichts importiert',
    noneWhy: 'Hier erscheinen Importe mit ihrem Ergebnis. Jeder lässt sich als Ganzes rückgängig machen.',
    columns: ['Datei', 'Stand', 'Ergebnis'],
    one: 'Import',
    facts: { state: 'Stand', who: 'Wer', at: 'Gesendet', end: 'Beendet', became: 'Ergebnis' },
    lines: 'Zeilen',
    lineColumns: ['Zeile', 'Ergebnis', 'Produkt, oder was nicht stimmt'],
    outcomes: {
      created: 'Angelegt',
      updated: 'Geändert',
      unchanged: 'Unverändert',
      failed: 'Fehlgeschlagen',
      skipped: 'Nicht erreicht',
      pending: 'Wartet'
    },
    outcome: (name, count) => `${name} (${count})`,
    noLines: 'Keine solchen Zeilen',
    ended: (name, state, became) => `${name} ist beendet. ${state}: ${became || 'keine Zeile übernommen'}.`,
    failedLines: 'Fehlgeschlagene Zeilen herunterladen',
    failedWhy: (count) =>
      count === 1
        ? 'Eine Zeile ist fehlgeschlagen. Herunterladen, den Fehler aus der Spalte „error“ beheben und diese Datei ' +
          'importieren: sie enthält nur diese Zeile.'
        : `${count} Zeilen sind fehlgeschlagen. Herunterladen, die Fehler aus der Spalte „error“ beheben und diese ` +
          'Datei importieren: sie enthält nur diese Zeilen.',
    corrected: 'Korrigierte Datei importieren',
    undone: (count, of) =>
      count === of
        ? 'Dieser Import wurde rückgängig gemacht.'
        : `${count} von ${counted(of, ...CHANGES)} rückgängig gemacht.`,
    states: {
      pending: 'Wartet',
      running: 'Läuft',
      done: 'Fertig',
      failed: 'Angehalten',
      cancelled: 'Abgebrochen'
    },
    progress: 'Fortschritt',
    progressText: (done, count) => `${done} von ${counted(count, 'Zeile', 'Zeilen')}`,
    became: (counts) => {
      const words = {
        created: 'angelegt',
        updated: 'geändert',
        unchanged: 'unverändert',
        failed: 'fehlgeschlagen'
      }
      return (Object.keys(words) as Array<keyof typeof words>).filter((what) => counts[what] > 0).map((what) =>
        `${counts[what]} ${words[what]}`
      ).join(', ')
    },
    cancel: 'Abbrechen',
    undo: 'Rückgängig machen',
    undoRest: 'Den Rest rückgängig machen',
    undoTitle: 'Diesen Import rückgängig machen?'
  },
  activity: {
    title: 'Aktivität',
    why: 'Alle Änderungen an diesem Shop, von Personen und Agenten.',
    empty: 'Noch ist nichts passiert',
    search: 'Datensatz, Urheber oder Vorgang suchen',
    events: {
      'api_key.first_used': 'wurde zum ersten Mal verwendet',
      'api_key.new_network': 'wurde aus einem neuen Netzwerk verwendet',
      'api_key.refused': 'wurde abgelehnt',
      'api_key.expiring': 'läuft bald ab',
      'api_key.unused': 'wurde länger nicht verwendet'
    },
    actions: { create: 'erstellt', update: 'geändert', delete: 'gelöscht', event: '' },
    line: (actor, action, record) => [actor, ': ', record, ` ${action}`],
    lineFields: (fields) => ` (${fields})`,
    action: 'Aktion',
    kind: 'Datensatz',
    who: 'Wer',
    actionNames: { create: 'Erstellt', update: 'Geändert', delete: 'Gelöscht', event: 'Ereignis' },
    kinds: {
      product: 'Produkt',
      category: 'Kategorie',
      tag: 'Schlagwort',
      attribute: 'Attribut',
      price: 'Preis',
      account: 'Konto',
      order: 'Bestellung',
      shop_config: 'Einstellungen',
      api_key: 'API-Schlüssel',
      member: 'Mitglied',
      pay_key: 'Zahlungsschlüssel',
      shop: 'Shop',
      user: 'Person'
    },
    otherFields: {
      metadata: 'Metadaten',
      parent_id: 'Übergeordnete Kategorie',
      position: 'Position',
      role: 'Rolle',
      user_id: 'Person',
      locale: 'Gebietsschema',
      time_zone: 'Zeitzone',
      currency: 'Währung',
      contact_email: 'E-Mail-Adresse',
      prices_include_tax: 'Preise mit Steuer',
      confirm_agent_calls: 'Rückfrage vor dem Löschen',
      lines: 'Positionen',
      configured: 'Hinterlegt',
      network: 'Netzwerk',
      owner_id: 'Inhaber',
      revoked_at: 'Widerrufen',
      archived_at: 'Archiviert',
      calls_per_day: 'Aufrufe pro Tag',
      writes_per_day: 'Änderungen pro Tag',
      imports_per_day: 'Importe pro Tag',
      pay_customer_id: 'Zahlungskunde'
    },
    single: { shop_config: 'Einstellungen' },
    actors: {
      user: 'Person',
      machine: 'Programm',
      'api-key': 'Agent',
      anybody: 'Unbekannt',
      command: 'Befehl auf dem Server',
      server: 'Einstellung des Servers',
      scanner: 'Leak-Scanner'
    },
    you: 'Ich',
    tool: 'Tool',
    details: 'Details',
    less: 'Details ausblenden',
    request: 'Anfrage',
    before: 'Vorher',
    after: 'Nachher',
    field: 'Feld',
    nothing: '—',
    affected: 'Ebenfalls betroffen:',
    reverted: 'Rückgängig gemacht',
    confirmed: (client) => `Bestätigt in ${client === 'unknown' ? 'einem Client' : client}`,
    revert: 'Rücknahme einer früheren Änderung',
    undo: 'Rückgängig',
    undoTitle: (action, name) => `Rückgängig machen: ${isolated(name)} ${action}`,
    undoWhy: 'Diese Änderung wird zurückgenommen. Auch das ist eine Änderung, die sich rückgängig machen lässt.',
    choosePage: 'Alle auf dieser Seite auswählen',
    undoChosen: (count) => `${counted(count, ...CHANGES)} rückgängig machen`,
    undoChosenTitle: (count) => `${counted(count, ...CHANGES)} rückgängig machen?`,
    mostChosen: (count) => `Höchstens ${count} lassen sich zusammen rückgängig machen`,
    undoAll: (name, isKey) =>
      `Alle Änderungen ${isKey ? 'des Schlüssels' : 'von'} ${isolated(name)} seit … rückgängig machen`,
    undoAllTitle: (name, isKey) =>
      `Alle Änderungen ${isKey ? 'des Schlüssels' : 'von'} ${isolated(name)} rückgängig machen`,
    undoAllWhy: 'Alle in einem Schritt. Was später noch einmal geändert wurde, bleibt. Zuerst prüfen, was passieren ' +
      'würde.',
    since: 'Seit',
    sinceHelp: (zone) => `Die erste Änderung oder später; Zeit in ${zone}`,
    check: 'Prüfen',
    checking: 'Prüfung läuft…',
    would: (count) =>
      count === 1 ? '1 Änderung wird rückgängig gemacht.' : `${count} Änderungen werden rückgängig gemacht.`,
    wouldNone: 'Es gibt nichts rückgängig zu machen.',
    showLater: 'Spätere Änderung anzeigen',
    conflicts: (count) =>
      count === 1
        ? '1 spätere Änderung steht im Weg. Zuerst diese rückgängig machen:'
        : `${count} spätere Änderungen stehen im Weg. Zuerst diese rückgängig machen:`,
    stay: (count) =>
      count === 1
        ? '1 Änderung bleibt, weil eine spätere im Weg steht:'
        : `${count} Änderungen bleiben, weil spätere im Weg stehen:`,
    leftOut: (count) =>
      count === 1
        ? '1 Änderung bleibt, wie sie ist: sie ist schon rückgängig gemacht oder lässt sich nicht rückgängig machen.'
        : `${count} Änderungen bleiben, wie sie sind: sie sind schon rückgängig gemacht oder lassen sich nicht ` +
          'rückgängig machen.',
    confirm: 'Jetzt rückgängig machen',
    done: (count) => `${counted(count, ...CHANGES)} rückgängig gemacht`,
    will: { create: 'kommt zurück', update: 'wird zurückgesetzt', delete: 'wird gelöscht' },
    more: 'Mehr anzeigen',
    refresh: 'Aktualisieren',
    work: {
      title: 'Zusammengefasst',
      bulk: { import_products: 'Datei importiert', revert_changes: 'Zurückgenommen' },
      why: 'Was eine Person oder ein Agent ohne eine Pause von zehn Minuten geändert hat, ist ein Eintrag.',
      part: (action, records) => `${records} ${action}`,
      line: (actor, what) => [actor, `: ${what}`],
      each: 'Einzelne Änderungen',
      open: 'Einzeln ansehen',
      openOf: (actor, what) => `Einzeln ansehen: ${isolated(actor)}, ${what}`,
      undo: 'Alles rückgängig',
      undoOf: (actor, what) => `Alles rückgängig: ${isolated(actor)}, ${what}`,
      undoTitle: (actor, what) => `Rückgängig machen: ${isolated(actor)}, ${what}?`,
      prices: (percents) => `Preise ${percents.map((percent) => `${percent} %`).join(' bis ')}`,
      many: {
        product: 'Produkte',
        category: 'Kategorien',
        tag: 'Schlagwörter',
        attribute: 'Attribute',
        price: 'Preise',
        account: 'Konten',
        order: 'Bestellungen',
        api_key: 'API-Schlüssel',
        member: 'Mitglieder',
        pay_key: 'Zahlungsschlüssel',
        shop: 'Shops',
        user: 'Personen'
      }
    },
    views: 'Art der Auflistung',
    whose: {
      title: 'Von wem',
      kinds: {
        agents: 'Agenten',
        people: 'Personen',
        machines: 'Programme',
        imports: 'Importe',
        undone: 'Rücknahmen'
      },
      one: { key: 'Agent', person: 'Person' }
    },
    record: 'Verlauf dieses Datensatzes',
    only: { actor: 'Urheber', record: 'Ein Datensatz', request: 'Eine Anfrage', change: 'Eine Änderung' },
    today: 'Heute',
    yesterday: 'Gestern',
    fields: (names, more) => more > 0 ? `${names} und ${more} weitere` : names
  },
  home: {
    welcome: (name) => `Willkommen, ${isolated(name)}`,
    products: 'Produkte',
    active: 'im Verkauf',
    drafts: (count) => counted(count, 'Entwurf', 'Entwürfe'),
    orders: 'Bestellungen',
    pending: 'offen',
    inAll: (count) => `${count} insgesamt`,
    keys: 'Aktive API-Schlüssel',
    expiring: (count) => `${count} ${count === 1 ? 'läuft' : 'laufen'} innerhalb von 14 Tagen ab`,
    accounts: 'Konten',
    unlinked: 'ohne Zahlungskunden',
    changes: 'Änderungen pro Tag',
    changesWhy: 'In den letzten 14 Tagen, von Agenten und Personen',
    unlinkedAccounts: 'Konten ohne Zahlungskunden',
    shopColumns: ['Shop', 'Produkte', 'Schlüssel', 'Konten (nicht verknüpft)', 'Zahlungsschlüssel'],
    attention: 'Konten mit Klärungsbedarf',
    neverChecked: 'Noch nicht geprüft: bitte einen Abgleich starten.',
    lastCheck: 'Letzte Prüfung',
    agents: 'Agenten',
    people: 'Personen',
    others: 'Andere',
    recent: 'Letzte Aktivität',
    all: 'Gesamte Aktivität',
    first: 'Einem Agenten Zugang geben',
    firstWhy:
      'Einen Schlüssel erstellen, der nur erlaubt, was der Agent braucht, und die fertige Konfiguration in den ' +
      'Client einfügen.',
    atWork: 'Agenten bei der Arbeit',
    agentsWhy: 'Tool-Aufrufe der letzten 24 Stunden',
    noAgents: 'In den letzten 24 Stunden hat kein Agent ein Tool aufgerufen.',
    calls: (calls, errors, count) =>
      `${calls} ${count === 1 ? 'Tool-Aufruf' : 'Tool-Aufrufe'} in den letzten 24 Stunden, ${errors} Fehler`,
    errorsOf: (_count, errors, name) => `${errors} Fehler von ${isolated(name)}`,
    errorsOfOthers: (_count, errors) => `${errors} Fehler von Personen und Programmen`,
    callsByTool: 'Aufrufe pro Tool',
    durationByTool: 'Dauer pro Tool',
    succeeded: 'Erfolgreich',
    errors: 'Fehler',
    p50: 'p50',
    p99: 'p99',
    toolColumns: ['Tool', 'Aufrufe', 'Fehler', 'p50', 'p99'],
    pay: { ok: 'Hinterlegt', none: 'Keiner', unreadable: 'Nicht lesbar' }
  },
  usage: {
    title: 'Nutzung',
    ends: (end) => `Tage in UTC: heute endet am ${end}.`,
    columns: { calls: 'Aufrufe', writes: 'Änderungen', imports: 'Importe' },
    names: { calls: 'Aufrufe', writes: 'Änderungen', imports: 'Importe' },
    day: 'Tag',
    limit: 'Limit pro Tag',
    none: 'keines',
    reached: (names) => `Das Limit für heute ist erreicht: ${names}. Weitere werden bis zum Ende des Tages abgelehnt.`,
    today: 'Heute, pro Schlüssel',
    key: 'Schlüssel',
    set: 'Limits setzen',
    setTitle: 'Limits pro Tag',
    setWhy:
      'Für alle API-Schlüssel und Mitglieder dieses Shops zusammen. Aufrufe über einem Limit werden bis zum Ende ' +
      'des Tages abgelehnt.',
    setKeyWhy: 'Für diesen Schlüssel. Aufrufe über einem Limit werden bis zum Ende des Tages abgelehnt.',
    anyNumber: 'Leer: beliebig viele',
    badLimit: 'Bitte eine ganze Zahl eingeben, oder das Feld für beliebig viele leer lassen',
    save: 'Speichern'
  },
  settings: {
    title: 'Einstellungen',
    saved: 'Einstellungen gespeichert',
    ownersOnly: 'Nur Inhaber ändern Einstellungen.',
    reload: 'Offene Seiten zeigen ein neues Gebietsschema, eine neue Zeitzone oder Währung nach dem Neuladen.',
    pay: 'Zahlungsschlüssel',
    payWhy: 'Der geheime Schlüssel dieses Shops beim Zahlungsanbieter. Er wird verschlüsselt gespeichert und nie ' +
      'angezeigt.',
    paySet: 'Ein Schlüssel ist hinterlegt.',
    payNone: 'Kein Schlüssel ist hinterlegt.',
    payKeys: 'Die geheimen Schlüssel aller Shops beim Zahlungsanbieter. Sie werden verschlüsselt gespeichert und nie ' +
      'angezeigt.',
    payKeyOf: (shop) => `Zahlungsschlüssel von ${isolated(shop)}`,
    verifyOf: (shop) => `Schlüssel von ${isolated(shop)} beim Anbieter prüfen`,
    replaceOf: (shop) => `Schlüssel von ${isolated(shop)} ersetzen`,
    setOf: (shop) => `Schlüssel von ${isolated(shop)} hinterlegen`,
    replaceShort: 'Ersetzen',
    setShort: 'Hinterlegen',
    verifyShort: 'Prüfen',
    verifyAll: 'Alle auf dieser Seite prüfen',
    keyColumns: ['Shop', 'Schlüssel', 'Konten', 'Aktionen'],
    payUnreadable: 'Ein Schlüssel ist hinterlegt, aber der Server kann ihn nicht mehr entschlüsseln. Bitte ersetzen.',
    counts: (accounts, linked, synced) =>
      `${counted(accounts, ...ACCOUNTS)}, ${linked} verknüpft, ${synced} abgeglichen`,
    newKey: 'Neuer geheimer Schlüssel',
    replace: 'Schlüssel speichern',
    verify: 'Beim Anbieter prüfen',
    valid: 'Der Anbieter akzeptiert den Schlüssel.',
    savedOnly: (why) => `Der Schlüssel ist gespeichert, wurde aber nicht geprüft. ${why}`,
    invalid: (code) => `Der Anbieter akzeptiert den Schlüssel nicht (${code}).`,
    remove: 'Entfernen',
    removeTitle: 'Zahlungsschlüssel entfernen?',
    removeWhy: 'Zahlungen und Abgleiche dieses Shops ruhen, bis ein Schlüssel hinterlegt ist.',
    general: 'Allgemein',
    locale: 'Gebietsschema',
    localeHelp: (example) => `So werden Geld, Zahlen und Zeiten geschrieben: ${example}`,
    zone: 'Zeitzone',
    zoneHelp: 'Zum Beispiel Europe/Zurich',
    currency: 'Währung',
    currencyHelp: 'Für neue Produkte und Bestellungen',
    email: 'E-Mail-Adresse für Kunden',
    tax: 'Preise enthalten Steuer',
    confirm: 'Agenten fragen eine Person, bevor sie löschen',
    save: 'Speichern'
  },
  members: {
    title: 'Mitglieder',
    add: 'Mitglied hinzufügen',
    id: 'ID der Person',
    idHelp: 'Steht im Menü der Person oben rechts unter „Eigene ID kopieren“',
    role: 'Rolle',
    owner: 'Inhaber',
    staff: 'Mitarbeiter',
    inactive: 'inaktiv',
    you: 'ich',
    remove: (name) => `${isolated(name)} entfernen`,
    ask: (name, role) => {
      if (role === undefined) {
        return {
          title: `${isolated(name)} aus dem Shop entfernen?`,
          why: 'Der Zugang endet mit dem nächsten Aufruf.',
          submit: 'Entfernen'
        }
      }
      if (role === 'owner') {
        return {
          title: `Rolle von ${isolated(name)} auf „Inhaber“ setzen?`,
          why: 'Inhaber verwalten Mitglieder, Schlüssel, den Zahlungsschlüssel und die Einstellungen.',
          submit: 'Rolle setzen'
        }
      }
      return {
        title: `Rolle von ${isolated(name)} auf „Mitarbeiter“ setzen?`,
        why: 'Mitglieder, Schlüssel, Zahlungsschlüssel und Einstellungen lassen sich mit dieser Rolle nicht verwalten.',
        submit: 'Rolle setzen'
      }
    },
    added: 'Mitglied hinzugefügt',
    changed: (name, role) => {
      if (role === undefined) return `${isolated(name)} wurde entfernt`
      return `${isolated(name)} hat jetzt die Rolle „${role === 'owner' ? 'Inhaber' : 'Mitarbeiter'}“`
    },
    ownerHelp:
      'Inhaber verwalten Mitglieder, Schlüssel, den Zahlungsschlüssel und die Einstellungen; Mitarbeiter alles Übrige.',
    save: 'Hinzufügen'
  },
  apps: {
    title: 'Verbundene Apps',
    of: (name) => `Verbundene Apps von ${isolated(name)}`,
    own: {
      why: 'Programme, die durch eine Anmeldung Zugang haben. Sie handeln im eigenen Namen, in allen eigenen Shops.',
      emptyWhy: 'Hier erscheinen Programme, die durch eine Anmeldung Zugang bekommen.',
      again: 'Für erneuten Zugang dort noch einmal anmelden.'
    },
    theirs: {
      why: 'Programme, denen diese Person durch eine Anmeldung Zugang gegeben hat. Sie handeln in ihrem Namen, in ' +
        'allen ihren Shops.',
      emptyWhy: 'Hier erscheinen Programme, denen diese Person durch eine Anmeldung Zugang gibt.',
      again: 'Für erneuten Zugang muss sich die Person dort noch einmal anmelden.'
    },
    empty: 'Keine App ist verbunden',
    name: 'App',
    unchecked: 'Name nicht geprüft',
    connected: 'Verbunden',
    used: 'Zuletzt erneuert',
    disconnect: (name) => `${isolated(name)} trennen`,
    until: (time, isOver) =>
      isOver
        ? 'Der bisherige Zugang ist abgelaufen.'
        : `Der jetzige Zugang gilt noch bis ${time ?? 'zu seinem Ablauf, meist innerhalb einer Stunde'}.`,
    ask: (name, until, again) => ({
      title: `${isolated(name)} trennen?`,
      why: `Die App bekommt keinen neuen Zugang. ${until} ${again}`,
      submit: 'Trennen'
    }),
    done: (name, until) => `${isolated(name)} ist getrennt. ${until}`,
    atProvider: {
      revoked: 'Auch der Identitätsanbieter hat die Anmeldung beendet.',
      failed: 'Der Identitätsanbieter war nicht zu erreichen: die Anmeldung auch dort beenden, wenn der App nicht zu ' +
        'trauen ist.',
      not_told: 'Der Identitätsanbieter weiß nichts davon: die Anmeldung auch dort beenden, wenn der App nicht zu ' +
        'trauen ist.'
    }
  },
  orders: {
    title: 'Bestellungen',
    empty: 'Noch keine Bestellungen',
    emptyWhy: 'Bestellungen kommen über die API herein.',
    lines: 'Positionen',
    account: 'Konto',
    total: 'Gesamt',
    next: { paid: 'Als bezahlt markieren', fulfilled: 'Als ausgeführt markieren', cancelled: 'Bestellung stornieren' },
    ask: (order, status, total) => `${order} über ${total} auf „${status}“ setzen?`,
    askWhy: {
      paid: 'Danach lässt sich die Bestellung ausführen oder stornieren, aber nicht mehr auf „Offen“ setzen.',
      fulfilled: 'Die Bestellung bleibt ausgeführt: stornieren ist danach nicht mehr möglich.',
      cancelled: 'Die Bestellung bleibt storniert. Nur ihr Status ändert sich: eine Zahlung wird nicht erstattet.'
    },
    product: 'Produkt',
    quantity: 'Menge',
    unit: 'Stückpreis',
    sum: 'Summe',
    deleted: 'gelöscht',
    number: 'Nummer',
    search: 'Nach Nummer, Kunde oder E-Mail suchen',
    named: (number) => `Bestellung ${isolated(number)}`
  },
  reconcile: {
    title: 'Zahlungskonten',
    why: 'Findet Konten, die von ihren Kunden beim Zahlungsanbieter abweichen, und bringt sie in Ordnung.',
    start: 'Abgleich starten',
    what: 'Was',
    shop: 'Shop',
    allShops: 'Alle Shops',
    real: 'Konten ändern (sonst wird nur gezeigt, was passieren würde)',
    dry: 'nur angesehen',
    run: 'Starten',
    stop: 'Anhalten',
    apply: 'Jetzt ausführen',
    find: 'Kunden suchen',
    noRuns: 'Noch keine Abgleiche',
    noRunsWhy: 'Zuerst alle Konten prüfen: das ändert nichts.',
    columns: ['Begonnen', 'Von', 'Was', 'Shop', 'Stand', 'Konten', 'Ergebnis'],
    modes: {
      check: 'Auf Abweichungen prüfen',
      link: 'Kunden suchen und verknüpfen',
      sync: 'Neue Daten übernehmen',
      unlink: 'Verknüpfung lösen'
    },
    states: {
      running: 'Läuft',
      queued: 'Wartet',
      done: 'Fertig',
      cancelled: 'Angehalten',
      failed: 'Fehlgeschlagen',
      interrupted: 'Unterbrochen'
    },
    outcomes: {
      linked: 'verknüpft',
      unlinked: 'gelöst',
      synced: 'abgeglichen',
      suggested: 'vorgeschlagen',
      ambiguous: 'mehrdeutig',
      unmatched: 'ohne passenden Kunden',
      skipped: 'übersprungen',
      different: 'abweichend',
      failed: 'fehlgeschlagen',
      unchanged: 'in Ordnung'
    },
    differences: {
      missing: 'Nicht verknüpft',
      not_found: 'Kunde nicht gefunden',
      deleted: 'Kunde gelöscht',
      duplicate: 'Doppelt verknüpft',
      never_synced: 'Nie abgeglichen',
      differs: 'Daten weichen ab'
    },
    reasons: {
      PAY_RECONCILE_NO_SECRET_KEY: 'der Shop hat keinen Zahlungsschlüssel',
      PAY_RECONCILE_PROVIDER_KEY_REJECTED: 'der Anbieter lehnt den Zahlungsschlüssel des Shops ab'
    },
    progress: 'Fortschritt',
    done: (processed, total, finished, shops) =>
      `${processed} von ${counted(total, ...ACCOUNTS)}, ${finished} von ${counted(shops, 'Shop', 'Shops')}`,
    found: 'Ergebnis',
    nothing: 'Alles in Ordnung.',
    nothingYet: 'Noch nichts.',
    notChecked: 'Nicht alle Konten wurden geprüft.',
    realTitle: (shop) => `Konten von ${shop === undefined ? 'allen Shops' : isolated(shop)} ändern?`,
    applyTitle: (count) => `${counted(count, ...ACCOUNTS)} ändern?`,
    realWhy: {
      link: 'Jedes Konto ohne Kunden wird mit dem verknüpft, der seine ID trägt. Verknüpfungen lassen sich einzeln ' +
        'wieder lösen.',
      sync: 'Die gespeicherten Daten jedes verknüpften Kunden werden durch die des Zahlungsanbieters ersetzt.',
      unlink: 'Die Konten haben danach keine Kunden mehr. Beim Zahlungsanbieter ändert sich nichts.'
    },
    unlinkTitle: (name) => `Verknüpfung von ${isolated(name)} lösen?`,
    unlinkWhy: (customer) =>
      `Das Konto gehört danach nicht mehr zu ${customer}. Beim Zahlungsanbieter ändert sich nichts, und neu verknüpfen ` +
      'bleibt möglich.',
    accounts: 'Konten',
    stored: 'Gespeichert',
    live: 'Beim Anbieter',
    noCustomer: 'kein Kunde',
    sync: 'Übernehmen',
    synced: 'Übernommen',
    unlink: 'Verknüpfung lösen',
    unlinked: 'Gelöst',
    link: 'Verknüpfen',
    linked: 'Verknüpft',
    taken: 'Mit einem anderen Konto verknüpft',
    candidate: (match) => match === 'metadata' ? 'Nennt dieses Konto' : 'Hat dieselbe E-Mail-Adresse',
    unlinkedWhy: 'Kunden beim Zahlungsanbieter, mit denen kein Konto verknüpft ist, live gelesen.',
    noUnlinked: 'Jeder Kunde gehört zu einem Konto.',
    mayBelong: (match) => match === 'metadata' ? 'Nennt das Konto' : 'Gleiche E-Mail-Adresse wie',
    news: 'Verglichen mit',
    newsAll: 'Alles',
    newsSince: (at) => `Neu seit ${at}`,
    nothingNew: 'Seitdem nichts Neues.',
    open: 'Beim Anbieter öffnen',
    auditWhy: 'Jede Änderung daran, womit Konten verknüpft sind.',
    actors: { schedule: 'Der Zeitplan', webhook: 'Ein Ereignis des Zahlungsanbieters' },
    auditColumns: ['Wann', 'Wer', 'Was', 'Konto', 'Shop', 'Vorher', 'Nachher'],
    changes: { link: 'verknüpft', unlink: 'gelöst', sync: 'abgeglichen', create: 'erstellt' }
  },
  shops: {
    empty: 'Noch keine Shops',
    create: 'Neuer Shop',
    search: 'Shops suchen',
    open: 'Öffnen',
    archiveHelp: 'Ein archivierter Shop ist für seine Mitglieder und Schlüssel geschlossen'
  },
  leaving: {
    keys: (count) =>
      count === 1
        ? 'Von dieser Person stammt ein gültiger API-Schlüssel. Was soll damit geschehen?'
        : 'Von dieser Person stammen gültige API-Schlüssel. Was soll damit geschehen?',
    ownersDecide: (count) =>
      count === 1
        ? 'Ein eigener API-Schlüssel ist gültig. Er wird abgelehnt, bis ein Inhaber entscheidet.'
        : 'Eigene API-Schlüssel sind gültig. Sie werden abgelehnt, bis ein Inhaber entscheidet.',
    list: 'API-Schlüssel dieser Person',
    ofShop: (name, shop) => `${isolated(name)}, in ${isolated(shop)}`,
    fate: 'API-Schlüssel dieser Person',
    fates: {
      revoke: 'Widerrufen',
      hand_over: 'An eine andere Person übergeben',
      later: 'Später entscheiden'
    },
    fateHelp: {
      revoke: 'Sie gelten sofort nicht mehr und lassen sich nicht wieder verwenden.',
      hand_over: 'Sie gelten weiter. Wer einen Schlüssel erstellt hat, besitzt vielleicht eine Kopie: bald rotieren.',
      later:
        'Sie werden abgelehnt, bis ein Inhaber auf der Seite „API-Schlüssel“ des Shops entscheidet oder die Person ' +
        'zurück ist.'
    },
    heir: 'Wer sie künftig hat',
    waiting: (count) =>
      count === 1
        ? 'Ein API-Schlüssel wird abgelehnt, weil die Person, die ihn erstellt hat, nicht mehr dabei ist. Bitte ' +
          'entscheiden, was damit geschieht.'
        : 'API-Schlüssel werden abgelehnt, weil die Personen, die sie erstellt haben, nicht mehr dabei sind. Bitte ' +
          'entscheiden, was damit geschieht.',
    waitingOf: (name, person) => `${isolated(name)}, von ${isolated(person)}`,
    waitingOfNobody: (name) => `${isolated(name)}, von einer gelöschten Person`,
    decide: (person) => `Über die Schlüssel von ${isolated(person)} entscheiden`,
    decideTitle: (person) => `Was soll mit den API-Schlüsseln von ${isolated(person)} geschehen?`,
    decideWhy: 'Bis zur Entscheidung werden sie abgelehnt.',
    done: 'Entschieden',
    submit: 'Entscheiden',
    notRead: (why) =>
      `Die API-Schlüssel dieser Person wurden nicht geladen und werden bis zu einer Entscheidung abgelehnt: ${why}`
  },
  users: {
    empty: 'Noch hat sich niemand angemeldet',
    why: 'Alle, die sich einmal angemeldet haben. Inaktive Personen werden überall abgelehnt.',
    search: 'Personen suchen',
    active: 'Aktiv',
    admin: 'Admin',
    apps: 'Apps',
    ask: {
      active: {
        on: {
          title: (name) => `${isolated(name)} wieder zulassen?`,
          why: 'Ab dem nächsten Aufruf sind die Shops dieser Person wieder erreichbar, und ihre API-Schlüssel gelten ' +
            'wieder.',
          submit: 'Zulassen'
        },
        off: {
          title: (name) => `${isolated(name)} deaktivieren?`,
          why: 'Ab dem nächsten Aufruf wird diese Person überall abgelehnt.',
          submit: 'Deaktivieren'
        }
      },
      admin: {
        on: {
          title: (name) => `${isolated(name)} die Rolle „Admin“ geben?`,
          why: 'Admins erreichen jeden Shop mit seinen Schlüsseln und entscheiden, was andere dürfen.',
          submit: 'Rolle geben'
        },
        off: {
          title: (name) => `${isolated(name)} die Rolle „Admin“ entziehen?`,
          why: 'Die Shops mit eigener Mitgliedschaft bleiben. Von dieser Person in anderen Shops erstellte ' +
            'API-Schlüssel werden abgelehnt.',
          submit: 'Rolle entziehen'
        }
      }
    }
  },
  accounts: {
    empty: 'Noch keine Konten',
    emptyWhy: 'Konten von Kunden kommen über die API herein.',
    search: 'Konten suchen',
    customer: 'Zahlungskunde',
    missing: 'keiner',
    email: 'E-Mail',
    phone: 'Telefon',
    contact: 'Kontakt',
    atProvider: 'Beim Zahlungsanbieter',
    notThere: 'Noch nicht beim Anbieter. Der erste Bezahlvorgang legt den Kunden an.',
    live: 'Wie es der Anbieter jetzt hat.',
    asOf: (at) => `Stand beim Anbieter: ${at}.`,
    neverRead: 'Ein Kunde beim Anbieter ist verknüpft, wurde aber noch nie gelesen.',
    customerDeleted: 'Der Kunde wurde beim Anbieter gelöscht.',
    same: 'Name und Kontakt stimmen überein.',
    differs: (field, here, there) => `${field}: hier ${isolated(here)}, dort ${isolated(there)}`,
    nothing: 'nichts',
    notRead: (why) => `Der Anbieter hat nicht geantwortet. ${why}`,
    noOrders: 'Noch keine Bestellungen.',
    allOrders: (count) => count === 1 ? 'Die eine Bestellung' : `Alle ${count} Bestellungen`,
    change: 'Konto ändern',
    raw: 'Rohdaten'
  },
  list: {
    selected: (count, unseen) => `${count} ausgewählt${unseen === 0 ? '' : `, ${unseen} nicht auf dieser Seite`}`,
    unseen: (count) =>
      count === 1 ? 'Einer davon ist nicht auf dieser Seite:' : `${count} davon sind nicht auf dieser Seite:`,
    gone: (count) =>
      count === 1
        ? 'Ein weiterer ist nicht mehr vorhanden und wird ausgelassen.'
        : `${count} weitere sind nicht mehr vorhanden und werden ausgelassen.`,
    allSeen: 'Alle sind auf dieser Seite.',
    matches: (first, last, total) => {
      if (total === 0) return 'Keine Treffer'
      return first === 1 && last === total
        ? counted(total, 'Treffer', 'Treffer')
        : `${first} bis ${last} von ${counted(total, 'Treffer', 'Treffern')}`
    },
    select: (name) => `${isolated(name)} auswählen`,
    actions: 'Aktionen',
    columns: 'Spalten',
    reset: 'Zurücksetzen',
    export: 'Exportieren',
    created: 'Erstellt',
    cancel: 'Abbrechen'
  },
  names: {
    products: {
      name: 'Produkt |||| Produkte',
      fields: {
        name: 'Name',
        slug: 'Slug',
        description: 'Beschreibung',
        sku: 'Artikelnummer',
        status: 'Status',
        price_amount: 'Preis',
        currency: 'Währung',
        category_ids: 'Kategorien',
        tag_ids: 'Schlagwörter',
        attributes: 'Attribute',
        image_urls: 'Bilder',
        updated_at: 'Geändert',
        created_at: 'Erstellt'
      }
    },
    tags: {
      name: 'Schlagwort |||| Schlagwörter',
      fields: { name: 'Name', slug: 'Slug', updated_at: 'Geändert', created_at: 'Erstellt' }
    },
    categories: {
      name: 'Kategorie |||| Kategorien',
      fields: { name: 'Name', slug: 'Slug', description: 'Beschreibung' }
    },
    attributes: {
      name: 'Attribut |||| Attribute',
      fields: {
        name: 'Name',
        code: 'Code',
        type: 'Art',
        unit: 'Einheit',
        options: 'Auswahlwerte',
        updated_at: 'Geändert'
      }
    },
    prices: {
      name: 'Preis |||| Preise',
      fields: {
        product_id: 'Produkt',
        amount: 'Preis',
        currency: 'Währung',
        min_quantity: 'Ab Menge',
        valid_from: 'Beginn',
        valid_to: 'Ende',
        created_at: 'Erstellt'
      }
    },
    orders: {
      name: 'Bestellung |||| Bestellungen',
      fields: {
        account_id: 'Konto',
        status: 'Status',
        total_amount: 'Gesamt',
        created_at: 'Eingegangen',
        currency: 'Währung'
      }
    },
    accounts: {
      name: 'Konto |||| Konten',
      fields: {
        name: 'Name',
        hash_name: 'Pseudonym',
        details: 'Details',
        created_at: 'Erstellt',
        updated_at: 'Geändert'
      }
    },
    'api-keys': {
      name: 'API-Schlüssel |||| API-Schlüssel',
      fields: {
        name: 'Name',
        prefix: 'Präfix',
        status: 'Status',
        scopes: 'Berechtigungen',
        created_at: 'Erstellt',
        expires_at: 'Läuft ab',
        last_used_at: 'Zuletzt verwendet'
      }
    },
    shops: {
      name: 'Shop |||| Shops',
      fields: { name: 'Name', slug: 'Slug', currency: 'Währung', status: 'Status', created_at: 'Erstellt' }
    },
    'admin/users': {
      name: 'Person |||| Personen',
      fields: {
        name: 'Name',
        subject: 'Subject',
        active: 'Aktiv',
        roles: 'Rollen',
        created_at: 'Erste Anmeldung'
      }
    }
  }
}
