import type { ReactNode } from 'react'
import { isolated } from './isolated.ts'
import { withoutNone } from './without-none.ts'

/** `1 product`, `2 products`. */
const counted = (count: number, one: string, several = `${one}s`): string => `${count} ${count === 1 ? one : several}`

/** Every text of the console, in English. Functions take what a sentence holds. */
const english = {
  product: 'Shop console',
  errors: {
    connection: 'The server cannot be reached. Nothing that you typed is lost: try again when you are back online.',
    notSent: 'There is no connection, so nothing was sent. What you typed is kept: try again when you are back online.',
    lost: 'The connection was lost before the server answered.',
    cut: 'The answer of the server was cut off.',
    outcomes: {
      open: 'It may have been done all the same: look whether it was before you repeat it.',
      late: 'It may still be under way: wait a little, then look whether it was done before you repeat it.',
      done: 'It was done: do not repeat it, but load the page again to see it.'
    } as Readonly<Record<string, string>>,
    unreadable: 'The server sent something unexpected, with status',
    status: (status: number) => `Status ${status}`,
    withRequest: (message: string, id: string) => `${message} (request ${id})`,
    /** What the server says of a field. @param rest - in English, such as `must not be empty` */
    ofField: (field: string, rest: string) => `${field} ${rest}`,
    title: 'This did not work',
    number: (field: string) => `${field} must be a number such as 12.50`,
    changed:
      'Others have changed this since it was read, so nothing was done. Look at it as it is now, then decide again.',
    gone: (kind: string) => `This ${kind} is not there any more: somebody deleted it, or you may no longer see it.`,
    halfTyped: 'This is not complete: finish it, or empty the field.',
    again: 'Try again',
    notRead: (why: string) => `Not all of this page could be read. ${why}`,
    offline: 'You are offline. What you see may be old, and what you save is not sent. This page goes on by itself ' +
      'when the connection is back.',
    noShop: 'There is no such shop, or you are no member of it.',
    noPage: 'Page not found',
    noPageAt: (path: string) => `There is no page at ${path}. Its address may be mistyped, or the page was removed.`,
    back: 'Back to the start'
  },
  session: {
    signingIn: 'Signing in…',
    signedOut: 'You are signed out',
    signedOutWhy: 'Your tokens are deleted. Signing in again asks for your password.',
    signIn: 'Sign in',
    failed: 'The sign-in failed',
    ended: 'Your session has ended',
    endedNotSent: 'Your session has ended, so nothing was sent. Sign in again, then repeat it.',
    endedStill: 'Your session has ended: nothing is read or saved until you sign in again.',
    endedWhy: 'Sign in again in a small window. This page stays as it is, with everything that you typed.',
    signInAgain: 'Sign in again',
    later: 'Not now',
    blocked: 'The window did not open or was closed. Allow pop-ups for this page and try again.',
    signOut: 'Sign out'
  },
  noShops: {
    title: (name: string) => `Hello, ${isolated(name)}`,
    why: 'You are not a member of a shop yet. Send this id to an owner of the shop, who can add you:',
    copy: 'Copy your id'
  },
  saved: {
    created: (kind: string) => `${kind} created`,
    updated: (kind: string) => `${kind} saved`,
    since: 'What you typed since is not saved yet'
  },
  unsaved: {
    title: 'Discard what you typed?',
    why: 'It is not saved yet.',
    keep: 'Keep editing',
    discard: 'Discard'
  },
  ask: {
    back: 'Back',
    delete: (name: string) => `Delete ${isolated(name)}?`,
    deleteIt: 'Delete',
    deleted: (name: string) => `${isolated(name)} is deleted`,
    canBeUndone: 'Activity can bring it back.'
  },
  conflicts: {
    title: 'Changed since you opened it',
    why: 'Others have changed what you changed. All else is kept, theirs and yours.',
    by: (who: string, at: string) => `Changed by ${isolated(who)}, ${at}`,
    mine: (value: string) => `Keep mine: ${value}`,
    theirs: (value: string) => `Take theirs: ${value}`,
    back: 'Back to the form',
    save: 'Save'
  },
  copy: { copy: 'Copy', copied: 'Copied', failed: 'Copying is not allowed here: select the text' },
  layout: {
    shops: 'Switch shop',
    findShop: 'Find a shop',
    administration: 'Administration',
    archived: 'archived',
    documentation: 'API documentation',
    yourId: 'Your id',
    loading: 'Loading'
  },
  menu: {
    home: 'Home',
    catalog: 'Catalog',
    agents: 'Agents',
    work: 'Sales',
    shop: 'Shop',
    products: 'Products',
    imports: 'Imports',
    categories: 'Categories',
    tags: 'Tags',
    attributes: 'Attributes',
    keys: 'API keys',
    activity: 'Activity',
    orders: 'Orders',
    accounts: 'Accounts',
    members: 'Members',
    settings: 'Settings',
    shops: 'Shops',
    people: 'People',
    reconciliation: 'Payment accounts',
    runs: 'Runs',
    unlinked: 'Unlinked customers',
    payKeys: 'Payment keys',
    audit: 'Changes',
    all: 'Everywhere'
  },
  status: {
    draft: 'Draft',
    active: 'Active',
    archived: 'Archived',
    expired: 'Expired',
    revoked: 'Revoked',
    refused: 'Refused',
    pending: 'Pending',
    paid: 'Paid',
    fulfilled: 'Fulfilled',
    cancelled: 'Cancelled'
  } as Readonly<Record<string, string>>,
  filters: {
    title: 'Filters',
    clear: 'Clear all',
    nothing: 'Nothing matches these filters',
    clearFilters: 'Clear filters',
    apply: 'Apply',
    from: 'From',
    to: 'To',
    price: 'Price',
    anyCurrency: 'any currency,',
    severalCurrencies: 'These prices are in several currencies. They are sorted by their numbers, which says little.',
    only: (currency: string) => `Only ${currency}`,
    status: 'Status',
    category: 'Category',
    tag: 'Tag',
    find: 'Search in the choices',
    more: (count: number) => `+${count}`
  },
  products: {
    create: 'New product',
    export: 'Export',
    search: 'Search by name, SKU or description',
    empty: 'No products yet',
    emptyWhy: 'Create the first one here, or let an agent do it.',
    basics: 'Basics',
    selling: 'Price and stock keeping',
    organisation: 'Organisation',
    attributes: 'Attributes',
    priceHelp: 'Empty if it is not for sale yet',
    badPrice: (currency: string, such: string) => `Price must be a number in ${currency}, such as ${such}`,
    slugHelp: 'Part of addresses; derived from the name if empty',
    statusHelp: 'Only active products are on sale',
    addAttribute: 'Add an attribute',
    noAttributes: 'No attributes yet.',
    pictures: 'Pictures',
    picturesHelp:
      'Addresses that start with https://, or paths of this server such as /pictures/kettle.svg. The main one first, ' +
      'up to ten.',
    picture: (place: number) => place === 1 ? 'Main picture' : `Picture ${place}`,
    addPicture: 'Add a picture',
    pictureUp: (place: number) => `Move picture ${place} up`,
    removePicture: (place: number) => `Remove picture ${place}`,
    removeAttribute: (name: string) => `Remove ${isolated(name)}`,
    yes: 'Yes',
    no: 'No',
    createTag: (name: string) => `Create the tag “${isolated(name)}”`,
    history: 'History of this product',
    bulk: {
      status: 'Set status',
      tags: 'Change tags',
      add: 'Add these tags',
      remove: 'Remove these tags',
      apply: 'Apply',
      askStatus: (count: number, status: string) => `Set the status of ${counted(count, 'product')} to ${status}?`,
      done: (count: number, gone: number) =>
        `${counted(count, 'product')} changed${gone === 0 ? '' : `, ${gone} not there any more`}`,
      stopped: ({ changed, open, count }: Readonly<Record<'changed' | 'open' | 'count', number>>, why: string) => {
        const maybe = open === 0 ? '' : `, ${open} more may have been`
        return `${changed} of ${counted(count, 'product')} changed${maybe}. What is not changed stays selected: ${why}`
      },
      all: (most: number) => `Select the first ${most}`,
      title: (count: number) => `Tags of ${counted(count, 'product')}`,
      progress: (done: number, count: number) => `${done} of ${count}`
    }
  },
  prices: {
    title: 'Prices over time',
    why: 'A product costs its own price unless one of these is in force.',
    add: 'Add a price',
    edit: 'Change the price',
    none: 'No further prices: it costs its own price at all times.',
    always: 'no end',
    ever: 'no start',
    now: 'in force',
    chart: (currency: string) => `Price of one in ${currency}`,
    amount: 'Price',
    quantity: 'From quantity',
    quantityHelp: 'Order lines of at least this many',
    starts: 'Starts',
    ends: 'Ends',
    zone: (zone: string) => `Time in ${zone}; empty for none`,
    save: 'Save',
    remove: 'Delete this price',
    removeTitle: (price: string) => `Delete the price of ${price}?`,
    removeWhy:
      'From now on the product costs its own price, unless another one is in force. Activity can bring this one back.',
    today: 'Now'
  },
  categories: {
    title: 'Categories',
    add: 'New category',
    addBelow: (name: string) => `New category below ${isolated(name)}`,
    edit: (name: string) => `Edit ${isolated(name)}`,
    up: (name: string) => `Move ${isolated(name)} up`,
    down: (name: string) => `Move ${isolated(name)} down`,
    move: (name: string) => `Move ${isolated(name)} elsewhere`,
    remove: (name: string) => `Delete ${isolated(name)}`,
    removeWhy: 'Its products stay. The categories below it move to the top level. Activity can bring it back.',
    top: 'Top level',
    under: 'Below',
    name: 'Name',
    slug: 'Slug',
    description: 'Description',
    none: 'No categories yet.',
    help: 'Move a category with its arrows, by dragging, or to another parent with “Move”.',
    expand: (name: string) => `Show what is below ${isolated(name)}`,
    collapse: (name: string) => `Hide what is below ${isolated(name)}`,
    moved: (name: string) => `${isolated(name)} was moved`,
    movedPartly: (name: string, why: string) =>
      `${isolated(name)} was moved, but not all beside it have their new place: ${why}`,
    more: (shown: number, total: number) => `Showing ${shown} of ${total} categories.`,
    save: 'Save'
  },
  tags: {
    create: 'New tag',
    search: 'Search tags',
    empty: 'No tags yet',
    emptyWhy: 'Tags are labels of products, such as “Bestseller”.'
  },
  attributes: {
    create: 'New attribute',
    search: 'Search attributes',
    empty: 'No attributes yet',
    emptyWhy: 'Attributes describe products, such as a size or a material.',
    types: { text: 'Text', number: 'Number', boolean: 'Yes or no', select: 'Choice' } as Readonly<
      Record<string, string>
    >,
    options: 'Choices',
    optionsHelp: 'Type one and press Enter',
    codeHelp: 'For programs; derived from the name if empty',
    unitHelp: 'Such as cm, g or L'
  },
  keys: {
    title: 'API keys',
    why: 'Each agent gets a key of its own, with only what it needs.',
    create: 'New key',
    search: 'Search by name or prefix',
    empty: 'No keys yet',
    emptyWhy: 'A key lets an agent work in this shop. You decide what it may do and for how long.',
    name: 'Name',
    nameHelp: 'Who uses it, and for what: “Price watcher”',
    scopes: 'What it may do',
    presets: {
      read: 'Read the catalog',
      readWhy: 'Every tool that lists or gets',
      write: 'Read and change the catalog',
      writeWhy: 'Every tool, also those that delete',
      some: 'Only certain tools',
      someWhy: 'You choose them one by one',
      all: 'Everything that takes keys',
      allWhy: 'Also what is added later. Not recommended'
    },
    reads: 'Read',
    writes: 'Change',
    deletes: 'Delete',
    noTools: 'Choose at least one tool',
    noName: 'Enter a name',
    expires: 'Expires',
    expiry: {
      day: 'In a day',
      week: 'In a week',
      month: 'In 30 days',
      quarter: 'In 90 days',
      year: 'In a year',
      date: 'On a date',
      never: 'Never'
    },
    endOfDay: (zone: string) => `Until the end of that day in ${zone}`,
    neverWhy: 'It works until somebody revokes it.',
    submit: 'Create the key',
    ready: 'Your key is ready',
    readyWhy: 'Copy it now: it is not shown again.',
    key: 'API key',
    connect: 'Connect a client',
    done: 'Done',
    unsaved: 'Close without copying the key?',
    rotate: 'Rotate',
    rotateTitle: (name: string) => `Rotate “${isolated(name)}”?`,
    rotateWhy: 'It gets a successor with the same name and scopes. The old key works until the grace is over.',
    grace: 'The old key works for',
    graces: { now: 'no longer', hour: 'an hour', day: 'a day', week: 'a week' },
    revoke: 'Revoke',
    revokeTitle: (name: string) => `Revoke “${isolated(name)}”?`,
    revokeWhy: 'The next call with this key is refused. This cannot be undone.',
    revoked: (name: string) => `“${isolated(name)}” is revoked`,
    activity: 'What it did',
    never: 'never',
    ended: { revoked: 'Revoked', expired: 'Expired', replaced: 'Replaced' },
    /** @param how - such as `Revoked` */
    endedOn: (how: string, date: string) => `${how} ${date}`,
    from: (network: string) => `from ${network}`,
    everything: 'Everything',
    actions: (name: string) => `Actions for ${isolated(name)}`,
    ownersOnly: 'Only owners create, rotate and revoke keys.',
    waiting: 'Waiting for the first call…',
    connectedAs: (client: string) => `Connected as ${client}.`,
    noCall: 'It has not called a tool yet.',
    called: (tool: string) => `It called ${tool}.`,
    used: 'The key was used.',
    undoAll: 'Undo its changes',
    about: 'About this key',
    clients: 'Clients',
    noClients: 'none yet',
    calls: 'Tool calls',
    callsWhy: 'The last 14 days',
    counts: (calls: string, errors: string, count: number, failed: number) =>
      count === 0
        ? 'No tool was called in the last 14 days.'
        : `${calls} ${count === 1 ? 'call' : 'calls'} in the last 14 days, ${errors} ` +
          `${failed === 1 ? 'error' : 'errors'}`,
    day: 'Day',
    tool: 'Tool',
    callColumns: ['Calls', 'Errors'],
    failed: 'Failed calls',
    failedWhy: (count: number) =>
      `${count === 1 ? 'The last one' : `The last ${count}`}. Long values are cut, and secrets are left out.`,
    noneKept: 'None of them is kept.',
    notSent: 'refused before it ran',
    status: (status: number) => `Status ${status}`,
    arguments: 'Arguments',
    changes: 'Latest changes',
    allChanges: 'All changes',
    history: 'History of this key',
    noChanges: 'It has changed nothing.'
  },
  imports: {
    open: 'Import',
    title: 'Imports',
    why: 'Create and change many products with a file.',
    new: 'Import a file',
    newWhy: 'CSV with a line of column names, or JSON lines; at most 10,000 products. It is checked first: nothing ' +
      'changes until you say so. An export of products shows the columns.',
    choose: 'Choose a file',
    unknown: 'This is no list of products: choose a .csv or .jsonl file.',
    would: (
      { total, created, updated, unchanged, price_changes: prices, failed }: {
        readonly total: number,
        readonly created: number,
        readonly updated: number,
        readonly unchanged: number,
        readonly price_changes: number,
        readonly failed: number
      }
    ) => {
      const parts = withoutNone([
        [created, 'new'],
        [updated, prices === 0 ? 'changed' : `changed (${prices} of them in price)`],
        [unchanged, 'as they are'],
        [failed, 'wrong']
      ])
      return `${counted(total, 'product')} in the file${parts === '' ? '' : `: ${parts}`}.`
    },
    prices: (currency: string, after: string, before: string | null) =>
      `Prices in ${currency}: ${after}${before === null ? '' : `; those that change are ${before} now`}.`,
    range: (lowest: string, highest: string) => lowest === highest ? lowest : `${lowest} to ${highest}`,
    changedPrice: (name: string, before: string, after: string | null) =>
      `${isolated(name)}: ${before} → ${after ?? 'no price'}`,
    showWrong: (shown: number, count: number) =>
      shown === count ? `Show all ${count}` : `Show the first ${shown} of ${count}`,
    showFewer: 'Show fewer',
    wrong: 'Wrong lines',
    wrongColumns: ['Line', 'What is wrong'],
    /** @param columns - how many are unknown, which the first line has wrong */
    skip: (count: number, columns: number) => {
      const lines = columns > 0 ? count - 1 : count
      const what = [
        ...columns > 0 ? [columns === 1 ? 'the unknown column' : `these ${columns} columns`] : [],
        ...lines > 0 ? [lines === 1 ? 'the wrong line' : `the ${lines} wrong lines`] : []
      ]
      return `Leave out ${what.join(' and ')}`
    },
    start: 'Import',
    sent: 'The import has begun',
    none: 'Nothing was imported yet',
    noneWhy: 'Your imports appear here with their results. Each can be undone as a whole.',
    columns: ['File', 'State', 'Result'],
    one: 'Import',
    facts: { state: 'State', who: 'Who', at: 'Sent', end: 'Ended', became: 'Result' },
    lines: 'Lines',
    lineColumns: ['Line', 'Outcome', 'Product, or what is wrong'],
    outcomes: {
      created: 'Created',
      updated: 'Changed',
      unchanged: 'Unchanged',
      failed: 'Failed',
      skipped: 'Not reached',
      pending: 'Waiting'
    },
    outcome: (name: string, count: string) => `${name} (${count})`,
    noLines: 'No such lines',
    ended: (name: string, state: string, became: string) =>
      `${name} has ended. ${state}: ${became || 'no line was applied'}.`,
    failedLines: 'Download failed lines',
    failedWhy: (count: number) =>
      `${count === 1 ? 'One line' : `${count} lines`} failed. Download ${count === 1 ? 'it' : 'them'}, correct what ` +
      'the column “error” says, and import that file: it has no other lines.',
    corrected: 'Import the corrected file',
    undone: (count: number, of: number) =>
      count === of ? 'This import was undone.' : `${count} of its ${counted(of, 'change')} are undone.`,
    states: { pending: 'Waiting', running: 'Running', done: 'Done', failed: 'Stopped', cancelled: 'Cancelled' },
    progress: 'Progress',
    progressText: (done: number, count: number) => `${done} of ${counted(count, 'line')}`,
    became: (counts: Readonly<Record<'created' | 'updated' | 'unchanged' | 'failed', number>>) =>
      Object.entries(counts).filter(([, count]) => count > 0).map(([what, count]) => `${count} ${what}`).join(', '),
    cancel: 'Cancel',
    undo: 'Undo',
    undoRest: 'Undo the rest',
    undoTitle: 'Undo this import?'
  },
  activity: {
    title: 'Activity',
    why: 'Every change to this shop, by people and agents.',
    empty: 'Nothing happened yet',
    search: 'Search by record, actor or operation',
    events: {
      'api_key.first_used': 'was used for the first time',
      'api_key.new_network': 'was used from a new network',
      'api_key.refused': 'was refused',
      'api_key.expiring': 'expires soon',
      'api_key.unused': 'has not been used for a while'
    } as Readonly<Record<string, string>>,
    actions: { create: 'created', update: 'changed', delete: 'deleted', event: '' } as Readonly<Record<string, string>>,
    /** Who did what to which record, and to which of its fields. */
    line: (actor: ReactNode, action: string, record: ReactNode): readonly ReactNode[] => [
      actor,
      ` ${action} `,
      record
    ],
    lineFields: (fields: string) => `: ${fields}`,
    action: 'Action',
    kind: 'Record',
    who: 'Who',
    actionNames: { create: 'Created', update: 'Changed', delete: 'Deleted', event: 'Event' } as Readonly<
      Record<string, string>
    >,
    kinds: {
      product: 'product',
      category: 'category',
      tag: 'tag',
      attribute: 'attribute',
      price: 'price',
      account: 'account',
      order: 'order',
      shop_config: 'settings',
      api_key: 'API key',
      member: 'member',
      pay_key: 'payment key',
      shop: 'shop',
      user: 'person'
    } as Readonly<Record<string, string>>,
    /** Fields of records that stand in no form. Others are called as the server calls them. */
    otherFields: { metadata: 'Metadata' } as Readonly<Record<string, string>>,
    /** What a shop has one of. */
    single: { shop_config: 'the settings' } as Readonly<Record<string, string>>,
    actors: {
      user: 'Person',
      machine: 'Machine',
      'api-key': 'Agent',
      anybody: 'Anybody',
      command: 'Command on the server',
      server: 'Server setting',
      scanner: 'Leak scanner'
    } as Readonly<Record<string, string>>,
    you: 'You',
    tool: 'tool',
    details: 'Details',
    less: 'Hide details',
    request: 'Request',
    before: 'Before',
    after: 'After',
    field: 'Field',
    nothing: '—',
    affected: 'Also affected:',
    reverted: 'Undone',
    confirmed: (client: string) => `Confirmed in ${client === 'unknown' ? 'the client' : client}`,
    revert: 'Undo of an earlier change',
    undo: 'Undo',
    undoTitle: (action: string, name: string) => `Undo: ${isolated(name)} ${action}`,
    undoWhy: 'This change is taken back. The undo is itself a change, and can be undone.',
    choosePage: 'Select all on this page',
    undoChosen: (count: number) => `Undo ${counted(count, 'change')}`,
    undoChosenTitle: (count: number) => `Undo ${counted(count, 'change')}?`,
    mostChosen: (count: number) => `At most ${count} can be undone together`,
    /** @param isKey - whether it is the name of a key */
    undoAll: (name: string, isKey: boolean) => `Undo all changes of ${isKey ? 'the key ' : ''}${isolated(name)} since…`,
    undoAllTitle: (name: string, isKey: boolean) => `Undo all changes of ${isKey ? 'the key ' : ''}${isolated(name)}`,
    undoAllWhy: 'All of them in one step. What was changed again later stays as it is. Check first what would happen.',
    since: 'Since',
    sinceHelp: (zone: string) => `Its first change, or later; time in ${zone}`,
    check: 'Check',
    checking: 'Checking…',
    would: (count: number) => `${counted(count, 'change')} will be undone.`,
    wouldNone: 'There is nothing to undo.',
    showLater: 'Show the later change',
    conflicts: (count: number) =>
      `${counted(count, 'later change stands', 'later changes stand')} in the way. Undo ` +
      `${count === 1 ? 'it' : 'them'} first:`,
    stay: (count: number) =>
      `${
        counted(
          count,
          'change stays as it is, since a later one stands',
          'changes stay as they are, since later ones stand'
        )
      } ` +
      'in the way:',
    leftOut: (count: number) =>
      `${
        counted(
          count,
          'change stays as it is: it is undone already, or cannot be',
          'changes stay as they are: they are undone already, or cannot be'
        )
      }.`,
    confirm: 'Undo now',
    done: (count: number) => `${counted(count, 'change')} undone`,
    will: { create: 'comes back', update: 'is set back', delete: 'is deleted' } as Readonly<Record<string, string>>,
    more: 'Show more',
    refresh: 'Refresh',
    work: {
      title: 'By piece of work',
      bulk: { import_products: 'imported a file', revert_changes: 'took back' } as Readonly<Record<string, string>>,
      why: 'What a person or an agent changed without a pause of ten minutes is one entry.',
      /** @param records - such as `50 products` */
      part: (action: string, records: string) => `${action} ${records}`,
      /** Who did what. */
      line: (actor: ReactNode, what: string): readonly ReactNode[] => [actor, ` ${what}`],
      each: 'Each change',
      open: 'See each',
      openOf: (actor: string, what: string) => `See each: ${isolated(actor)} ${what}`,
      undo: 'Undo all',
      undoOf: (actor: string, what: string) => `Undo all: ${isolated(actor)} ${what}`,
      undoTitle: (actor: string, what: string) => `Undo: ${isolated(actor)} ${what}?`,
      prices: (percents: readonly string[]) => `prices ${percents.map((percent) => `${percent} %`).join(' to ')}`,
      many: {
        product: 'products',
        category: 'categories',
        tag: 'tags',
        attribute: 'attributes',
        price: 'prices',
        account: 'accounts',
        order: 'orders',
        api_key: 'API keys',
        member: 'members',
        pay_key: 'payment keys',
        shop: 'shops',
        user: 'people'
      } as Readonly<Record<string, string>>
    },
    views: 'How it is listed',
    whose: {
      title: 'Whose',
      kinds: {
        agents: 'Agents',
        people: 'People',
        machines: 'Machines',
        imports: 'Imports',
        undone: 'Undoing'
      } as Readonly<Record<string, string>>,
      one: { key: 'Agent', person: 'Person' }
    },
    record: 'History of this record',
    only: { actor: 'Actor', record: 'One record', request: 'One request', change: 'One change' },
    today: 'Today',
    yesterday: 'Yesterday',
    fields: (names: string, more: number) => more > 0 ? `${names} and ${more} more` : names
  },
  home: {
    welcome: (name: string) => `Welcome, ${isolated(name)}`,
    products: 'Products',
    active: 'on sale',
    drafts: (count: number) => counted(count, 'draft'),
    orders: 'Orders',
    pending: 'pending',
    inAll: (count: number) => `${count} in all`,
    keys: 'Active API keys',
    expiring: (count: number) => `${count} ${count === 1 ? 'expires' : 'expire'} within 14 days`,
    accounts: 'Accounts',
    unlinked: 'without a payment customer',
    changes: 'Changes per day',
    changesWhy: 'The last 14 days, by agents and by people',
    unlinkedAccounts: 'Accounts without a payment customer',
    shopColumns: ['Shop', 'Products', 'Keys', 'Accounts (unlinked)', 'Payment key'],
    attention: 'Accounts that need attention',
    neverChecked: 'Not checked yet: start a run.',
    lastCheck: 'Last check',
    agents: 'Agents',
    people: 'People',
    others: 'Others',
    recent: 'Latest activity',
    all: 'All activity',
    first: 'Let an agent in',
    firstWhy: 'Create a key that may only do what the agent needs, and paste the ready configuration into your client.',
    atWork: 'Agents at work',
    agentsWhy: 'Tool calls of the last 24 hours',
    noAgents: 'No agent called a tool in the last 24 hours.',
    calls: (calls: string, errors: string, count: number, failed: number) =>
      `${calls} tool ${count === 1 ? 'call' : 'calls'} in the last 24 hours, ${errors} ` +
      `${failed === 1 ? 'error' : 'errors'}`,
    errorsOf: (count: number, errors: string, name: string) =>
      `${errors} ${count === 1 ? 'error' : 'errors'} of ${isolated(name)}`,
    errorsOfOthers: (count: number, errors: string) =>
      `${errors} ${count === 1 ? 'error' : 'errors'} of people and machines`,
    callsByTool: 'Calls by tool',
    durationByTool: 'Duration by tool',
    succeeded: 'Succeeded',
    errors: 'Errors',
    p50: 'p50',
    p99: 'p99',
    toolColumns: ['Tool', 'Calls', 'Errors', 'p50', 'p99'],
    pay: { ok: 'Set', none: 'None', unreadable: 'Cannot be read' }
  },
  usage: {
    title: 'Usage',
    ends: (end: string) => `Days are in UTC: today ends on ${end}.`,
    columns: { calls: 'Calls', writes: 'Writes', imports: 'Imports' },
    names: { calls: 'calls', writes: 'writes', imports: 'imports' },
    day: 'Day',
    limit: 'Limit a day',
    none: 'none',
    reached: (names: string) => `Today’s limit is reached: ${names}. The next ones are refused until the day ends.`,
    today: 'Today, by key',
    key: 'Key',
    set: 'Set limits',
    setTitle: 'Limits a day',
    setWhy: 'For all API keys and members of this shop together. Calls beyond a limit are refused until the day ends.',
    setKeyWhy: 'For this key. Calls beyond a limit are refused until the day ends.',
    anyNumber: 'Empty for any number',
    badLimit: 'Enter a whole number, or leave it empty for any number',
    save: 'Save'
  },
  settings: {
    title: 'Settings',
    saved: 'The settings are saved',
    ownersOnly: 'Only owners change settings.',
    reload: 'Open pages show a new locale, time zone or currency after they are loaded again.',
    pay: 'Payment key',
    payWhy: 'The secret key of this shop at its payment provider. It is stored encrypted and never shown.',
    paySet: 'A key is set.',
    payNone: 'No key is set.',
    payKeys: 'The secret keys of all shops at their payment provider. They are stored encrypted and never shown.',
    payKeyOf: (shop: string) => `Payment key of ${isolated(shop)}`,
    verifyOf: (shop: string) => `Check the key of ${isolated(shop)} with the provider`,
    replaceOf: (shop: string) => `Replace the key of ${isolated(shop)}`,
    setOf: (shop: string) => `Set the key of ${isolated(shop)}`,
    replaceShort: 'Replace',
    setShort: 'Set',
    verifyShort: 'Check',
    verifyAll: 'Check all of this page',
    keyColumns: ['Shop', 'Key', 'Accounts', 'Actions'],
    payUnreadable: 'A key is set, but the server can no longer decrypt it. Replace it.',
    counts: (accounts: number, linked: number, synced: number) =>
      `${counted(accounts, 'account')}, ${linked} linked, ${synced} synced`,
    newKey: 'New secret key',
    replace: 'Save key',
    verify: 'Check with the provider',
    valid: 'The provider accepts the key.',
    savedOnly: (why: string) => `The key is saved, but was not checked. ${why}`,
    invalid: (code: string) => `The provider does not accept the key (${code}).`,
    remove: 'Remove',
    removeTitle: 'Remove the payment key?',
    removeWhy: 'Payments and reconciliation of this shop stop until a key is set.',
    general: 'General',
    locale: 'Locale',
    localeHelp: (example: string) => `How money, numbers and times are written: ${example}`,
    zone: 'Time zone',
    zoneHelp: 'Such as Europe/Zurich',
    currency: 'Currency',
    currencyHelp: 'Of new products and orders',
    email: 'E-mail address for customers',
    tax: 'Prices include tax',
    confirm: 'Agents ask a person before they delete',
    save: 'Save'
  },
  members: {
    title: 'Members',
    add: 'Add a member',
    id: 'Id of the person',
    idHelp: 'They find it in their menu at the top right, under “Copy your id”',
    role: 'Role',
    owner: 'Owner',
    staff: 'Staff',
    inactive: 'inactive',
    you: 'you',
    remove: (name: string) => `Remove ${isolated(name)}`,
    ask: (name: string, role: 'owner' | 'staff' | undefined) => {
      if (role === undefined) {
        return {
          title: `Remove ${isolated(name)} from the shop?`,
          why: 'They lose access with their next request.',
          submit: 'Remove'
        }
      }
      if (role === 'owner') {
        return {
          title: `Make ${isolated(name)} an owner?`,
          why: 'Owners manage members, keys, the payment key and settings.',
          submit: 'Make owner'
        }
      }
      return {
        title: `Make ${isolated(name)} staff?`,
        why: 'They no longer manage members, keys, the payment key and settings.',
        submit: 'Make staff'
      }
    },
    added: 'Member added',
    /** @param role - undefined: none, they were removed */
    changed: (name: string, role: 'owner' | 'staff' | undefined) =>
      `${isolated(name)} ${role === undefined ? 'was removed' : `is ${role === 'owner' ? 'an owner' : 'staff'} now`}`,
    ownerHelp: 'Owners manage members, keys, the payment key and settings; staff does everything else.',
    save: 'Add'
  },
  apps: {
    title: 'Connected apps',
    of: (name: string) => `Connected apps of ${isolated(name)}`,
    own: {
      why: 'Programs that you let in by signing in. They act in your name, in all of your shops.',
      emptyWhy: 'A program that you let in by signing in is listed here.',
      again: 'To use it again, sign in there again.'
    },
    theirs: {
      why: 'Programs that they let in by signing in. They act in their name, in all of their shops.',
      emptyWhy: 'A program that they let in by signing in is listed here.',
      again: 'To use it again, they sign in there again.'
    },
    empty: 'No app is connected',
    name: 'App',
    unchecked: 'calls itself that',
    connected: 'Connected',
    used: 'Last renewed',
    disconnect: (name: string) => `Disconnect ${isolated(name)}`,
    /** Until when an app works on; undefined: nobody knows. */
    until: (time: string | undefined, isOver: boolean) =>
      isOver
        ? 'The access that it had has expired.'
        : `The access that it has now works until ${time ?? 'it expires, usually within an hour'}.`,
    ask: (name: string, until: string, again: string) => ({
      title: `Disconnect ${isolated(name)}?`,
      why: `It gets no new access. ${until} ${again}`,
      submit: 'Disconnect'
    }),
    done: (name: string, until: string) => `${isolated(name)} is disconnected. ${until}`,
    atProvider: {
      revoked: 'The identity provider has ended its sign-in too.',
      failed: 'The identity provider could not be told: end the sign-in there too, if the app is not trusted.',
      not_told: 'The identity provider was not told: end the sign-in there too, if the app is not trusted.'
    }
  },
  orders: {
    title: 'Orders',
    empty: 'No orders yet',
    emptyWhy: 'Orders come in over the API.',
    lines: 'Lines',
    account: 'Account',
    total: 'Total',
    next: { paid: 'Mark as paid', fulfilled: 'Mark as fulfilled', cancelled: 'Cancel the order' } as Readonly<
      Record<string, string>
    >,
    ask: (order: string, status: string, total: string) => `${order} of ${total}: ${status.toLowerCase()}?`,
    askWhy: {
      paid: 'After that it can be fulfilled or cancelled, but not become pending again.',
      fulfilled: 'It stays fulfilled: it can no longer be cancelled.',
      cancelled: 'It stays cancelled. Only its status changes: a payment is not returned.'
    } as Readonly<Record<string, string>>,
    product: 'Product',
    quantity: 'Quantity',
    unit: 'Price of one',
    sum: 'Sum',
    deleted: 'deleted',
    number: 'Number',
    search: 'Search by number, customer or e-mail',
    named: (number: string) => `Order ${isolated(number)}`
  },
  reconcile: {
    title: 'Payment accounts',
    why: 'Finds accounts that differ from their customers at the payment provider, and mends them.',
    start: 'Start a run',
    what: 'What',
    shop: 'Shop',
    allShops: 'All shops',
    real: 'Change accounts (otherwise it only says what it would do)',
    dry: 'only looked',
    run: 'Start',
    stop: 'Stop',
    apply: 'Do this now',
    find: 'Find the customer',
    noRuns: 'No runs yet',
    noRunsWhy: 'Check all accounts first: it changes nothing.',
    columns: ['Started', 'By', 'What', 'Shop', 'State', 'Accounts', 'Found'],
    modes: {
      check: 'Check for differences',
      link: 'Find customers and link them',
      sync: 'Store new snapshots',
      unlink: 'Unlink'
    } as Readonly<Record<string, string>>,
    states: {
      running: 'Running',
      queued: 'Waiting',
      done: 'Done',
      cancelled: 'Stopped',
      failed: 'Failed',
      interrupted: 'Interrupted'
    } as Readonly<Record<string, string>>,
    outcomes: {
      linked: 'linked',
      unlinked: 'unlinked',
      synced: 'synced',
      suggested: 'suggested',
      ambiguous: 'ambiguous',
      unmatched: 'no customer found',
      skipped: 'skipped',
      different: 'differs',
      failed: 'failed',
      unchanged: 'in order'
    } as Readonly<Record<string, string>>,
    differences: {
      missing: 'Not linked',
      not_found: 'Customer not found',
      deleted: 'Customer deleted',
      duplicate: 'Linked twice',
      never_synced: 'Never synced',
      differs: 'Data differs'
    } as Readonly<Record<string, string>>,
    reasons: {
      PAY_RECONCILE_NO_SECRET_KEY: 'the shop has no payment key',
      PAY_RECONCILE_PROVIDER_KEY_REJECTED: 'the provider rejects the payment key of the shop'
    } as Readonly<Record<string, string>>,
    progress: 'Progress',
    done: (processed: number, total: number, finished: number, shops: number) =>
      `${processed} of ${counted(total, 'account')}, ${finished} of ${counted(shops, 'shop')}`,
    found: 'What it found',
    nothing: 'Nothing is amiss.',
    nothingYet: 'Nothing yet.',
    notChecked: 'Not all accounts were checked.',
    realTitle: (shop: string | undefined) => `Change accounts of ${shop === undefined ? 'all shops' : isolated(shop)}?`,
    applyTitle: (count: number) => `Change ${counted(count, 'account')}?`,
    realWhy: {
      link: 'Each account without a customer is linked to the one that carries its id. A link can be removed again, ' +
        'one by one.',
      sync: 'What is stored of each linked customer is replaced by what the payment provider has now.',
      unlink: 'The accounts no longer have their customers. Nothing changes at the payment provider.'
    } as Readonly<Record<string, string>>,
    unlinkTitle: (name: string) => `Unlink ${isolated(name)} from its customer?`,
    unlinkWhy: (customer: string) =>
      `The account no longer has ${customer}. Nothing changes at the payment provider, and it can be linked again.`,
    accounts: 'Accounts',
    stored: 'Stored',
    live: 'At the provider',
    noCustomer: 'no customer',
    sync: 'Take over',
    synced: 'Taken over',
    unlink: 'Unlink',
    unlinked: 'Unlinked',
    link: 'Link',
    linked: 'Linked',
    taken: 'Linked to another account',
    candidate: (match: string) => match === 'metadata' ? 'Names this account' : 'Has the same e-mail address',
    unlinkedWhy: 'Customers at the payment provider that no account is linked to, read live.',
    noUnlinked: 'Every customer belongs to an account.',
    mayBelong: (match: string) => match === 'metadata' ? 'Names the account' : 'Same e-mail address as',
    news: 'Compared with',
    newsAll: 'Everything',
    newsSince: (at: string) => `New since ${at}`,
    nothingNew: 'Nothing new since then.',
    open: 'Open at the provider',
    auditWhy: 'Every change of what accounts are linked to.',
    /** Who changes accounts without being a person. */
    actors: { schedule: 'The schedule', webhook: 'An event of the payment provider' } as Readonly<
      Record<string, string>
    >,
    auditColumns: ['When', 'Who', 'What', 'Account', 'Shop', 'Before', 'After'],
    changes: { link: 'linked', unlink: 'unlinked', sync: 'synced', create: 'created' } as Readonly<
      Record<string, string>
    >
  },
  shops: {
    empty: 'No shops yet',
    create: 'New shop',
    search: 'Search shops',
    open: 'Open',
    archiveHelp: 'An archived shop is closed to its members and keys'
  },
  leaving: {
    keys: (count: number) =>
      count === 1
        ? 'They made an API key that works. What becomes of it?'
        : 'They made API keys that work. What becomes of them?',
    ownersDecide: (count: number) =>
      `You made ${
        count === 1 ? 'an API key that works. It is' : 'API keys that work. They are'
      } refused until an owner decides.`,
    list: 'Their API keys',
    ofShop: (name: string, shop: string) => `${isolated(name)}, in ${isolated(shop)}`,
    fate: 'Their API keys',
    fates: {
      revoke: 'Revoke',
      hand_over: 'Hand over to somebody else',
      later: 'Decide later'
    },
    fateHelp: {
      revoke: 'They stop at once, and cannot be used again.',
      hand_over: 'They go on. Who made a key may have a copy: rotate it soon.',
      later: 'They are refused until an owner decides on the page “API keys” of the shop, or the person is back.'
    },
    heir: 'Who has them from now on',
    waiting: (count: number) =>
      count === 1
        ? 'An API key is refused because who made it has left. Decide what becomes of it.'
        : 'API keys are refused because who made them has left. Decide what becomes of them.',
    waitingOf: (name: string, person: string) => `${isolated(name)}, of ${isolated(person)}`,
    waitingOfNobody: (name: string) => `${isolated(name)}, of somebody who was deleted`,
    decide: (person: string) => `Decide about the keys of ${isolated(person)}`,
    decideTitle: (person: string) => `What becomes of the API keys of ${isolated(person)}?`,
    decideWhy: 'They are refused until you decide.',
    done: 'Decided',
    submit: 'Decide',
    notRead: (why: string) => `Their API keys could not be read, and are refused until somebody decides: ${why}`
  },
  users: {
    empty: 'Nobody has signed in yet',
    why: 'Everybody who has signed in. Inactive people are rejected everywhere.',
    search: 'Search people',
    active: 'Active',
    admin: 'Admin',
    apps: 'Apps',
    ask: {
      active: {
        on: {
          title: (name: string) => `Let ${isolated(name)} in again?`,
          why: 'They reach their shops from their next request on, and API keys that they made work again.',
          submit: 'Let in'
        },
        off: {
          title: (name: string) => `Deactivate ${isolated(name)}?`,
          why: 'They are rejected everywhere from their next request on.',
          submit: 'Deactivate'
        }
      },
      admin: {
        on: {
          title: (name: string) => `Make ${isolated(name)} an admin?`,
          why: 'Admins reach every shop with its keys, and decide what people may do.',
          submit: 'Make admin'
        },
        off: {
          title: (name: string) => `Take the admin role from ${isolated(name)}?`,
          why: 'They keep the shops that they are members of. API keys that they made in other shops are refused.',
          submit: 'Take it'
        }
      }
    }
  },
  accounts: {
    empty: 'No accounts yet',
    emptyWhy: 'Accounts of customers come in over the API.',
    search: 'Search accounts',
    customer: 'Payment customer',
    missing: 'none',
    email: 'E-mail',
    phone: 'Phone',
    contact: 'Contact',
    atProvider: 'At the payment provider',
    notThere: 'Not at the provider yet. The first checkout creates the customer.',
    live: 'As the provider has it now.',
    asOf: (at: string) => `As the provider had it: ${at}.`,
    neverRead: 'An account of the provider is linked, but was never read.',
    customerDeleted: 'The customer was deleted at the provider.',
    same: 'Name and contact are the same here and there.',
    differs: (field: string, here: string, there: string) =>
      `${field}: ${isolated(here)} here, ${isolated(there)} there`,
    nothing: 'none',
    notRead: (why: string) => `The provider was asked, but did not tell. ${why}`,
    noOrders: 'No orders yet.',
    allOrders: (count: number) => `All ${counted(count, 'order')}`,
    change: 'Change the account',
    raw: 'Raw data'
  },
  list: {
    selected: (count: number, unseen: number) =>
      `${counted(count, 'item')} selected${unseen === 0 ? '' : `, ${unseen} not on this page`}`,
    unseen: (count: number) => `${count === 1 ? 'One of them is' : `${count} of them are`} not on this page:`,
    gone: (count: number) => `${count === 1 ? 'One more is' : `${count} more are`} not there any more, and left out.`,
    allSeen: 'All of them are on this page.',
    matches: (first: number, last: number, total: number) => {
      if (total === 0) return 'No results'
      return first === 1 && last === total
        ? counted(total, 'result')
        : `${first} to ${last} of ${counted(total, 'result')}`
    },
    select: (name: string) => `Select ${isolated(name)}`,
    actions: 'Actions',
    columns: 'Columns',
    reset: 'Reset',
    export: 'Export',
    created: 'Created',
    cancel: 'Cancel'
  },
  names: {
    products: {
      name: 'Product |||| Products',
      fields: {
        name: 'Name',
        slug: 'Slug',
        description: 'Description',
        sku: 'SKU',
        status: 'Status',
        price_amount: 'Price',
        currency: 'Currency',
        category_ids: 'Categories',
        tag_ids: 'Tags',
        attributes: 'Attributes',
        image_urls: 'Pictures',
        updated_at: 'Changed',
        created_at: 'Created'
      }
    },
    tags: {
      name: 'Tag |||| Tags',
      fields: { name: 'Name', slug: 'Slug', updated_at: 'Changed', created_at: 'Created' }
    },
    categories: {
      name: 'Category |||| Categories',
      fields: { name: 'Name', slug: 'Slug', description: 'Description' }
    },
    attributes: {
      name: 'Attribute |||| Attributes',
      fields: { name: 'Name', code: 'Code', type: 'Type', unit: 'Unit', options: 'Choices', updated_at: 'Changed' }
    },
    prices: {
      name: 'Price |||| Prices',
      fields: {
        product_id: 'Product',
        amount: 'Price',
        currency: 'Currency',
        min_quantity: 'From quantity',
        valid_from: 'Starts',
        valid_to: 'Ends',
        created_at: 'Created'
      }
    },
    orders: {
      name: 'Order |||| Orders',
      fields: {
        account_id: 'Account',
        status: 'Status',
        total_amount: 'Total',
        created_at: 'Placed',
        currency: 'Currency'
      }
    },
    accounts: {
      name: 'Account |||| Accounts',
      fields: { name: 'Name', hash_name: 'Pseudonym', details: 'Details', created_at: 'Created', updated_at: 'Changed' }
    },
    'api-keys': {
      name: 'API key |||| API keys',
      fields: {
        name: 'Name',
        prefix: 'Prefix',
        status: 'Status',
        scopes: 'Scopes',
        created_at: 'Created',
        expires_at: 'Expires',
        last_used_at: 'Last used'
      }
    },
    shops: {
      name: 'Shop |||| Shops',
      fields: { name: 'Name', slug: 'Slug', currency: 'Currency', status: 'Status', created_at: 'Created' }
    },
    'admin/users': {
      name: 'Person |||| People',
      fields: { name: 'Name', subject: 'Subject', active: 'Active', roles: 'Roles', created_at: 'First seen' }
    }
  }
} as const

/** The same object in words of any language. */
type Translated<Text> = Text extends string ? string
  : Text extends (...values: infer Values) => infer Said ? (...values: Values) => Translated<Said>
  : readonly ReactNode[] extends Text ? Text
  : { readonly [Key in keyof Text]: Translated<Text[Key]> }

/** What a language says: a key that it lacks does not compile. */
export type Texts = Translated<typeof english>

/** Every text of the console, in the language of the person: set by {@link speak} before the application is loaded. */
export let texts: Texts = english

/** From now on, `texts` is this. */
export function speak (translation: Texts): void {
  texts = translation
}

/** The name of a status; as it is, if there is none. */
export function statusText (status: string): string {
  return texts.status[status] ?? status
}
