import { createApiKeysTable } from 'dual-auth/knex'
import type { Knex } from 'knex'
import { createAccountIndexes, createPayReconcileTables } from 'pay-reconcile/knex'
import { payingTeams } from '../src/pay.ts'

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    create table teams (
      id uuid primary key default gen_random_uuid(),
      name text not null unique,
      email text,
      stripe_customer_id text unique,
      stripe_details jsonb
    );
    create table notes (
      id uuid primary key default gen_random_uuid(),
      team_id uuid not null references teams on delete cascade,
      title text not null,
      text text not null default '',
      created_at timestamptz not null default now()
    );
    create index on notes (team_id, created_at desc, id);
  `)
  await createApiKeysTable(knex, { ownerColumn: 'team_id' })
  await knex.raw(`
    alter table api_keys
      alter team_id type uuid using team_id::uuid,
      add foreign key (team_id) references teams on delete cascade
  `)
  await createPayReconcileTables(knex)
  // The indexes need no key.
  await createAccountIndexes(knex, payingTeams('none'))
}

/** To go back, restore a backup. */
export const notes: Knex.Migration = { up, down: async () => {} }
