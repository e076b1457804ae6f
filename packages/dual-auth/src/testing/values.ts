import { randomBytes, randomUUID } from 'node:crypto'
import { has, holds, newKey, OLDEST_FIRST, recordOf, same, START, times, type Check } from './check.ts'

const CASES =
  'Compare ids, names and fingerprints byte by byte. The default collation of MySQL and of some columns ignores ' +
  'case, accents and spaces at the end: give the columns a binary one.'
const TYPES = 'Return strings, Buffers, lists and Dates, and null for nothing, whatever the driver returns.'
const TIMES =
  'Store moments, to the millisecond, in a form that no time zone changes: a whole number, or a type with a time zone.'

/** Pairs of owners that something takes for one. */
const ODD_OWNERS: ReadonlyArray<readonly [string, string]> = [
  ['Team', 'team'],
  ['team', 'team '],
  ['team', ' team'],
  ['téam', 'team'],
  ['Straße', 'Strasse'],
  ['caf\u00e9', 'cafe\u0301'],
  ['1', '01'],
  ['1', '1.0'],
  ['0', 'zero'],
  ['7', '7up'],
  ['%', 'a'],
  ['_', 'b'],
  ["'; drop table api_keys; --", "''; drop table api_keys; --"],
  ['a\\', 'a'],
  ['"', '""'],
  ['null', 'NULL'],
  ['\u{1F511}', '\u{1F512}'],
  ['?', '\u{1F511}?'],
  ['$1', ':1'],
  ['İ', 'i']
]

/** Two spellings of bytes that are one where case does not count: as text, in base64, and with an end that is cut. */
const ALIKE: ReadonlyArray<readonly [Buffer, Buffer]> = [
  [Buffer.alloc(32, 'A'), Buffer.alloc(32, 'a')],
  [Buffer.from(`${'A'.repeat(42)}A=`, 'base64'), Buffer.from(`a${'A'.repeat(41)}A=`, 'base64')],
  [Buffer.concat([Buffer.alloc(31, 7), Buffer.from([0])]), Buffer.concat([Buffer.alloc(31, 7), Buffer.from([32])])]
]

export const VALUES: readonly Check[] = [
  {
    title: 'finds a key by any of the fingerprints',
    mend: 'find gets one fingerprint for each pepper and returns the key that has one of them.',
    run: async ({ store, inserted }) => {
      const key = await inserted()
      has(await store.find([randomBytes(32), key.fingerprint, randomBytes(32)]), {
        id: key.id,
        ownerId: key.ownerId,
        scopes: key.scopes,
        createdBy: key.createdBy,
        pepperId: 'p1',
        expiresAt: null,
        revokedAt: null
      }, 'the key')
    }
  },
  {
    title: 'returns null for a fingerprint that no key has',
    mend: 'find returns null, neither undefined nor a row of nulls.',
    run: async ({ store, inserted }) => {
      const key = await inserted()
      for (const fingerprint of [randomBytes(32), key.hash.subarray(0, 32), Buffer.alloc(32)]) {
        same(await store.find([fingerprint]), null, 'an unknown fingerprint')
      }
    }
  },
  {
    title: 'returns fingerprint and hash as the bytes that were stored',
    mend: TYPES,
    run: async ({ store, inserted }) => {
      const hash = Buffer.from(times(96, (n) => 255 - n))
      const key = await inserted({ hash })
      const found = await store.find([key.fingerprint])
      for (const [name, bytes] of [['hash', hash], ['fingerprint', key.fingerprint]] as const) {
        holds(Buffer.isBuffer(found?.[name]) && found[name].equals(bytes), `${name} is not the Buffer that was stored`)
      }
    }
  },
  {
    title: 'tells fingerprints apart that differ in the case of a letter or in the last byte',
    mend: CASES,
    run: async ({ store, inserted }) => {
      for (const [fingerprint, other] of ALIKE) {
        const { id } = await store.find([fingerprint]) ?? await inserted({ fingerprint })
        same(
          await store.find([other]),
          null,
          `${other.toString('hex')} where only ${fingerprint.toString('hex')} of the key ${id} is stored`
        )
      }
    }
  },
  {
    title: 'keeps odd owners apart: lists, limits and revocations are of one only',
    mend: CASES,
    run: async ({ store, listed }) => {
      for (const pair of ODD_OWNERS) {
        const run = randomUUID().slice(0, 8)
        const [one, other] = pair.map((id) => `${run}${id}`) as [string, string]
        const key = newKey({ ownerId: one })
        same(await store.insert(key, 1), true, `a key of ${one}`)
        same(await store.insert(newKey({ ownerId: other }), 1), true, `a key of ${other}, beside the one of ${one}`)
        same((await listed(one)).keys, [recordOf(key)], `the keys of ${one}`)
        same(await store.revoke(other, key.id, 'eve', START), false, `a revocation by ${other}`)
        has(await store.find([key.fingerprint]), { ownerId: one, revokedAt: null }, 'the key')
      }
    }
  },
  {
    title: 'keeps names of every letter',
    mend: 'Store text as Unicode of any plane, without normalization, escapes or a limit below 100 characters. ' +
      'MySQL needs utf8mb4, for the connection too.',
    run: async ({ store, inserted, listed }) => {
      for (
        const name of [
          '\u{1F511}'.repeat(50),
          'e\u0301 \u00e9',
          '\u05d0\u202eabc',
          '\\n \\0 %s $1 ? :a ??',
          '\'"`;--',
          ' x ',
          'x'.repeat(100),
          '\ud7ff\ue000\uffff',
          'NULL',
          '{}'
        ]
      ) {
        const key = await inserted({ name, createdBy: name })
        same((await listed(key.ownerId)).keys, [recordOf(key)], 'the record')
        has(await store.find([key.fingerprint]), { createdBy: name }, 'the key that is found')
      }
    }
  },
  {
    title: 'keeps scopes, in their order',
    mend: 'Store scopes as a list: as JSON, or in a column of lists. No separator is safe.',
    run: async ({ store, inserted, listed }) => {
      for (
        const scopes of [
          [],
          ['write', 'read', 'read:all', 'a,b', '{"x"}', "'", '"', '\\', 'é', 'null', '1'],
          times(64, (n) => `${'s'.repeat(60)}${n}`)
        ]
      ) {
        const key = await inserted({ scopes })
        has(await store.find([key.fingerprint]), { scopes }, 'the key that is found')
        has((await listed(key.ownerId)).keys[0], { scopes }, 'the key that is listed')
      }
    }
  },
  {
    title: 'keeps the end of a key to the millisecond',
    mend: TIMES,
    run: async ({ store, inserted, listed }) => {
      for (
        const text of [
          '2030-06-01T12:00:00.001Z',
          '2030-06-01T12:00:00.499Z',
          '2030-06-01T12:00:00.999Z',
          '2030-12-31T23:59:59.999Z'
        ]
      ) {
        const [createdAt, expiresAt] = [new Date(+new Date(text) - 1), new Date(text)]
        const key = await inserted({ createdAt, expiresAt })
        has(await store.find([key.fingerprint]), { expiresAt }, 'the key that is found')
        has((await listed(key.ownerId)).keys[0], { createdAt, expiresAt }, 'the key that is listed')
      }
    }
  },
  {
    title: 'keeps moments in the hours in which clocks change',
    mend: TIMES,
    run: async ({ store, inserted }) => {
      // Europe, America, Australia: an hour that is not there, and one that is there twice.
      for (
        const text of [
          '2030-03-31T01:30',
          '2030-10-27T00:30',
          '2030-10-27T01:30',
          '2030-03-10T07:30',
          '2030-11-03T05:30',
          '2030-11-03T06:30',
          '2030-10-05T16:30',
          '2030-04-06T15:30',
          '2030-03-31T02:30',
          '2030-03-10T02:30'
        ]
      ) {
        const expiresAt = new Date(`${text}:00.000Z`)
        const key = await inserted({ expiresAt })
        has(await store.find([key.fingerprint]), { expiresAt }, 'the key')
      }
    }
  },
  {
    title: 'keeps moments after 2038, and up to the last of the year 9999',
    mend: `${TIMES} A TIMESTAMP of MySQL ends in 2038, 32 bits in 1970 plus 25 days of milliseconds.`,
    run: async ({ store, inserted }) => {
      for (const text of ['2038-01-19T03:14:08.000Z', '2106-02-07T06:28:16.000Z', '9999-12-31T23:59:59.999Z']) {
        const expiresAt = new Date(text)
        const key = await inserted({ expiresAt })
        has(await store.find([key.fingerprint]), { expiresAt }, 'the key')
      }
    }
  },
  {
    title: 'returns null for what a key has not got, and dates for what it has',
    mend: TYPES,
    run: async ({ store, inserted, listed }) => {
      const key = await inserted({ scopes: [] })
      same((await listed(key.ownerId)).keys, [recordOf(key)], 'a new key')
      await store.revoke(key.ownerId, key.id, 'ada', START)
      const found = await store.find([key.fingerprint])
      holds(
        found?.revokedAt instanceof Date && found.expiresAt === null,
        'revokedAt is no Date, or expiresAt is not null'
      )
    }
  },
  {
    title: 'refuses a second key with the same id or fingerprint',
    mend: 'Make id the primary key, and fingerprint unique.',
    run: async ({ store, inserted, listed }) => {
      const key = await inserted()
      for (const twin of [{ id: key.id }, { fingerprint: key.fingerprint }]) {
        const outcome = await store.insert(newKey({ ...twin, ownerId: key.ownerId }), 10).then(
          () => 'stored',
          () => 'refused'
        )
        same(outcome, 'refused', `a second key with the same ${Object.keys(twin).join()}`)
      }
      same((await listed(key.ownerId, { sort: OLDEST_FIRST })).keys, [recordOf(key)], 'the keys')
    }
  }
]
