import type { Knex } from 'knex'

/** A step of the schema. Each runs in a transaction of its own, unless it is {@link Migration.online}. */
export interface Migration {
  /**
   * Whether the step runs outside of a transaction, for statements that PostgreSQL allows only there, such as
   * `create index concurrently`. If it fails in the middle, it runs again from its start.
   */
  readonly online?: boolean
  up(knex: Knex): Promise<void>
}
