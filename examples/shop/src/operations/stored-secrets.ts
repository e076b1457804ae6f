import type { FastifyBaseLogger } from 'fastify'
import type { Knex } from 'knex'
import { SHOP_SETTINGS } from '../errors.ts'
import { keyRing } from '../pay/key-ring.ts'
import type { Config } from '../settings/config.ts'
import { allowedBy } from '../settings/risks.ts'
import { pepperFromText, secretFromText } from '../settings/secrets.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readonly storedSecrets: StoredSecrets
  }
}

/** Whether the secrets in the settings are those that the stored keys were made with. */
export interface StoredSecrets {
  /**
   * Compares them, once the tables are up to date. Logs an error if some of the stored keys are lost.
   *
   * @throws {@link SHOP_SETTINGS} if all of them are, and `ALLOW_INSECURE` does not name `lost-secrets`
   */
  compare (): Promise<void>
  /** What the last comparison found: `ok`, or a sentence that anybody may read. */
  readonly state: string
}

type Settings = Pick<Config, 'API_KEY_PEPPERS' | 'PAY_KEY_SECRETS' | 'ALLOW_INSECURE'>

/** Keys of one kind that are stored, and those of them that no secret of the setting opens. */
interface Lost {
  readonly setting: 'API_KEY_PEPPERS' | 'PAY_KEY_SECRETS'
  readonly keys: string
  /** What happens on their use. */
  readonly cost: string
  readonly remedy: string
  readonly total: number
  readonly lost: number
  /** The ids of the secrets that they were made with. */
  readonly ids: readonly string[]
}

export function storedSecrets (knex: Knex, settings: Settings, log: Pick<FastifyBaseLogger, 'error'>): StoredSecrets {
  let state = 'not compared yet'
  return {
    get state () { return state },
    async compare () {
      const found = [await lostApiKeys(knex, settings), await lostPayKeys(knex, settings)].filter(({ lost }) => lost > 0)
      state = found.length === 0 ? 'ok' : found.map(({ setting, keys }) => `${setting} lacks a secret that stored ${keys} need`).join('; ')
      const wrong = found.filter(({ lost, total }) => lost === total)
      if (wrong.length > 0 && !allowedBy(settings, 'lost-secrets')) {
        throw new SHOP_SETTINGS(wrong.map((lost) => `  ${sentence(lost)} To start all the same, put lost-secrets into ALLOW_INSECURE`).join('\n'))
      }
      for (const lost of found) log.error(sentence(lost))
    }
  }
}

function sentence ({ setting, keys, cost, remedy, total, lost, ids }: Lost): string {
  return `${setting} lacks the secrets of ${lost} of ${total} stored ${keys}, named ${ids.join(', ')}: ${cost}. ` +
    `Restore them behind the newest secret, each with its id; if they are gone for good, ${remedy}.`
}

/** A row that names its pepper by the id alone, as rows did once, is taken for one of the pepper with that id. */
async function lostApiKeys (knex: Knex, { API_KEY_PEPPERS: peppers }: Settings): Promise<Lost> {
  const known = new Set(peppers.flatMap((text) => [pepperFromText(text).id, secretFromText(text).id]))
  const rows = await knex('api_keys').whereNull('revoked_at').where((unexpired) => unexpired.whereNull('expires_at').orWhere('expires_at', '>', knex.fn.now()))
    .groupBy('pepper_id').orderBy('pepper_id').select<Array<{ pepper_id: string, count: number }>>('pepper_id', knex.raw('count(*) as count'))
  const lost = rows.filter(({ pepper_id: id }) => !known.has(id))
  return {
    setting: 'API_KEY_PEPPERS',
    keys: 'API keys',
    cost: 'every call with one of them gets 401',
    remedy: 'revoke these keys and make new ones',
    total: sum(rows),
    lost: sum(lost),
    ids: [...new Set(lost.map(({ pepper_id: id }) => id.split(':')[0]!))]
  }
}

function sum (rows: ReadonlyArray<{ readonly count: number }>): number {
  return rows.reduce((total, { count }) => total + count, 0)
}

async function lostPayKeys (knex: Knex, { PAY_KEY_SECRETS: secrets }: Settings): Promise<Lost> {
  const ring = keyRing(secrets)
  const rows = await knex('shops').whereNotNull('pay_secret_key').orderBy('id').select<Array<{ id: string, pay_secret_key: string }>>('id', 'pay_secret_key')
  const lost = rows.filter(({ id, pay_secret_key: sealed }) => !ring.opens(sealed, id))
  return {
    setting: 'PAY_KEY_SECRETS',
    keys: 'payment keys',
    cost: 'every call to the payment provider for their shops gets 500',
    remedy: 'set the keys of these shops again',
    total: rows.length,
    lost: lost.length,
    ids: [...new Set(lost.map(({ pay_secret_key: sealed }) => ring.secretOf(sealed)))]
  }
}
