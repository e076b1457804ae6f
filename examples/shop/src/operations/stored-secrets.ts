import type { FastifyBaseLogger } from 'fastify'
import type { Knex } from 'knex'
import { SHOP_SETTINGS } from '../errors.ts'
import { keyRing } from '../pay/key-ring.ts'
import { sealedValues } from '../pay/pay-keys.ts'
import type { Settings } from '../settings/settings.ts'
import { allowedBy } from '../settings/risks.ts'
import { pepperFromText } from '../settings/secrets.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readonly storedSecrets: StoredSecrets
  }
}

/** Whether the settings have the secrets that the stored keys were made with. */
export interface StoredSecrets {
  /**
   * Compares them; the tables must be up to date. Logs an error if secrets of some stored keys are missing.
   *
   * @throws {@link SHOP_SETTINGS} if those of all stored keys are, and `ALLOW_INSECURE` does not name `lost-secrets`
   */
  compare(): Promise<void>
  /** The result of the last comparison: `ok`, or a public sentence. */
  readonly state: string
}

type Needed = Pick<Settings, 'API_KEY_PEPPERS' | 'PAY_KEY_SECRETS' | 'ALLOW_INSECURE'>

/** The stored keys of one kind, and how many of them have no secret in the setting. */
interface Lost {
  readonly setting: 'API_KEY_PEPPERS' | 'PAY_KEY_SECRETS'
  readonly keys: string
  /** What happens when they are used. */
  readonly cost: string
  readonly remedy: string
  readonly total: number
  readonly lost: number
  /** The ids of the secrets that they were made with. */
  readonly ids: readonly string[]
}

export function storedSecrets (knex: Knex, settings: Needed, log: Pick<FastifyBaseLogger, 'error'>): StoredSecrets {
  let state = 'not compared yet'
  return {
    get state () {
      return state
    },
    async compare () {
      const found = [await lostApiKeys(knex, settings), await lostPayKeys(knex, settings)].filter(({ lost }) =>
        lost > 0
      )
      state = found.length === 0
        ? 'ok'
        : found.map(({ setting, keys }) => `${setting} lacks a secret that stored ${keys} need`).join('; ')
      const wrong = found.filter(({ lost, total }) => lost === total)
      if (wrong.length > 0 && !allowedBy(settings, 'lost-secrets')) {
        throw new SHOP_SETTINGS(
          wrong.map((lost) => `  ${sentence(lost)} To allow this, add lost-secrets to ALLOW_INSECURE`).join('\n')
        )
      }
      for (const lost of found) log.error(sentence(lost))
    }
  }
}

function sentence ({ setting, keys, cost, remedy, total, lost, ids }: Lost): string {
  return `${setting} lacks the secrets of ${lost} of ${total} stored ${keys} (ids: ${ids.join(', ')}). ${cost}. ` +
    `Add them after the newest secret, each with its id. If they are lost for good, ${remedy}.`
}

async function lostApiKeys (knex: Knex, { API_KEY_PEPPERS: peppers }: Needed): Promise<Lost> {
  const known = new Set(peppers.map((text) => pepperFromText(text).id))
  const rows = await knex('api_keys').whereNull('revoked_at').where((unexpired) =>
    unexpired.whereNull('expires_at').orWhere('expires_at', '>', knex.fn.now())
  )
    .groupBy('pepper_id').orderBy('pepper_id').select<Array<{ pepper_id: string, count: number }>>(
      'pepper_id',
      knex.raw('count(*) as count')
    )
  const lost = rows.filter(({ pepper_id: id }) => !known.has(id))
  return {
    setting: 'API_KEY_PEPPERS',
    keys: 'API keys',
    cost: 'Every call with these keys gets 401',
    remedy: 'revoke these keys and create new ones',
    total: sum(rows),
    lost: sum(lost),
    ids: [...new Set(lost.map(({ pepper_id: id }) => id.split(':')[0]!))]
  }
}

function sum (rows: ReadonlyArray<{ readonly count: number }>): number {
  return rows.reduce((total, { count }) => total + count, 0)
}

async function lostPayKeys (knex: Knex, { PAY_KEY_SECRETS: secrets }: Needed): Promise<Lost> {
  const ring = keyRing(secrets)
  const rows = await sealedValues(knex)
  const lost = rows.filter(({ sealed, sealedFor }) => !ring.opens(sealed, sealedFor))
  return {
    setting: 'PAY_KEY_SECRETS',
    keys: 'payment keys',
    cost: 'Every call to the payment provider for these shops gets 500',
    remedy: 'set the keys of these shops again',
    total: rows.length,
    lost: lost.length,
    ids: [...new Set(lost.map(({ sealed }) => ring.secretOf(sealed)))]
  }
}
