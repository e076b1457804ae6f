import type { Knex } from 'knex'

/** A step of the schema, and the way back. Each runs in a transaction of its own. */
export interface Migration {
  up (knex: Knex): Promise<void>
  down (knex: Knex): Promise<void>
}
